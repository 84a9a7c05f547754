import { HeldPlaces } from './held-places';

/** Takes places, each for a new principal, until this founder gets none. Returns how many it took. */
function takeAll(places: HeldPlaces, founder: string): number {
  let count = 0;
  while (places.take(`${founder}-${count}`, founder) !== null) count += 1;
  return count;
}

it('HeldPlaces limits a principal across the tenants of all founders', () => {
  const places = new HeldPlaces(1_000, 2);
  expect([places.take('p', 'a'), places.take('p', 'b'), places.take('p', 'c')]).toEqual([
    expect.any(Function),
    expect.any(Function),
    null,
  ]);
});

it('HeldPlaces limits a founder to a quarter of the free places, for all its principals together', () => {
  const places = new HeldPlaces(1_000, 20);
  expect([takeAll(places, 'a'), takeAll(places, 'b')]).toEqual([250, 125]);
  expect(places.inUse).toBe(375);
});

it('HeldPlaces leaves places for a hundred founders that each take as many as they get', () => {
  const places = new HeldPlaces(1_000, 20);
  const counts = Array.from({ length: 100 }, (_, index) => takeAll(places, `f${index}`));
  expect(Math.min(...counts)).toBe(4);
});

it('HeldPlaces releases a place only once', () => {
  const places = new HeldPlaces(1, 1);
  const giveBack = places.take('p', 'p');
  expect(places.take('q', 'q')).toBeNull();
  giveBack?.();
  giveBack?.();
  expect(places.inUse).toBe(0);
  expect([places.take('q', 'q'), places.take('p', 'p')]).toEqual([expect.any(Function), null]);
});
