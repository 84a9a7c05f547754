import { Shares } from './shares';

/** Takes as many places as the holder may have. */
function takeAll(shares: Shares, holder: string): number {
  let count = 0;
  for (; shares.admits(holder); count += 1) shares.take(holder);
  return count;
}

it('gives a single holder a quarter of the places, and the next one less', () => {
  const shares = new Shares(256, 1);
  expect(takeAll(shares, 'alone')).toBe(64);
  expect(takeAll(shares, 'second')).toBe(32);
});

it('leaves a place for each newcomer after many greedy holders', () => {
  const shares = new Shares(256, 1);
  const counts = Array.from({ length: 128 }, (_, index) => takeAll(shares, `holder ${index}`));
  expect(Math.min(...counts)).toBe(1);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(256);
});

it('gives a returned place to a newcomer, not to a holder that still has its share', () => {
  const shares = new Shares(8, 1);
  expect(['a', 'b', 'c', 'd'].map((holder) => takeAll(shares, holder))).toEqual([2, 1, 1, 1]);
  for (const holder of ['e', 'f', 'g']) expect(takeAll(shares, holder)).toBe(1);
  expect(takeAll(shares, 'h')).toBe(0);
  shares.giveBack('a');
  expect(takeAll(shares, 'a')).toBe(0);
  expect(takeAll(shares, 'h')).toBe(1);
});

it('gives each holder its guaranteed number of places', () => {
  const shares = new Shares(100, 10);
  expect(['a', 'b', 'c', 'd', 'e', 'f'].map((holder) => takeAll(shares, holder))).toEqual([25, 13, 10, 10, 10, 10]);
});

it('admits one holder if there is only one place', () => {
  expect(takeAll(new Shares(1, 1), 'a')).toBe(1);
});
