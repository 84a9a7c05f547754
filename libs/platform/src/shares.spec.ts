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

it('a holder of no places gets any number of free places, and a holder of some only its share', () => {
  const shares = new Shares(8, 1);
  expect([shares.admits('a', 8), shares.admits('a', 9)]).toEqual([true, false]);
  shares.take('a', 2);
  expect([shares.admits('a', 2), shares.admits('b', 6), shares.admits('b', 7)]).toEqual([false, true, false]);
  expect([shares.holds('a'), shares.holds('b')]).toEqual([true, false]);
  shares.giveBack('a');
  expect(shares.holds('a')).toBe(true);
  shares.giveBack('a');
  expect([shares.holds('a'), shares.hasFree(8)]).toEqual([false, true]);
});
