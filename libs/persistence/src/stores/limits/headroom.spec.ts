import { Headroom } from './headroom';

/** Returns the number of rows that pass without another count. */
function uncounted(headroom: Headroom, cap: number): number {
  let rows = 0;
  while (headroom.take('acme') === cap) rows += 1;
  return rows;
}

it('returns null before a count', () => {
  expect(new Headroom().take('acme')).toBeNull();
});

it.each([
  [0, 10_000, 2499],
  [5000, 10_000, 1249],
  [9992, 10_000, 1],
  [9993, 10_000, 0],
  [10_000, 10_000, 0],
  [20_000, 10_000, 0],
  [0, 100, 24],
  [0, 3, 0],
  [0, 0, 0],
])('after a count of %i under a cap of %i allows %i more rows without a count', (count, cap, rows) => {
  const headroom = new Headroom();
  headroom.counted('acme', count, cap);
  expect(uncounted(headroom, cap)).toBe(rows);
});

it('forgets a count after a minute, and does not use it for other tenants', () => {
  let nowMs = 0;
  const headroom = new Headroom(() => nowMs);
  headroom.counted('acme', 0, 100);
  expect(headroom.take('beta')).toBeNull();
  nowMs = 59_999;
  expect(headroom.take('acme')).toBe(100);
  nowMs = 60_000;
  expect(headroom.take('acme')).toBeNull();
});
