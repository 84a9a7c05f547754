import { HeldPlaces } from './held-places';

/** Takes places, each for a new principal, until this founder gets none. Returns how many it took. */
function takeAll(places: HeldPlaces, founder: string): number {
  let count = 0;
  while (places.take(`${founder}-${count}`, founder) !== null) count += 1;
  return count;
}

it('bounds a principal, whichever founders’ tenants it acts for', () => {
  const places = new HeldPlaces(1_000, 2);
  expect([places.take('p', 'a'), places.take('p', 'b'), places.take('p', 'c')]).toEqual([
    expect.any(Function),
    expect.any(Function),
    null,
  ]);
});

it('gives a founder a quarter, however many principals it has, and others theirs', () => {
  const places = new HeldPlaces(1_000, 20);
  expect([takeAll(places, 'a'), takeAll(places, 'b')]).toEqual([250, 125]);
  expect(places.inUse).toBe(375);
});

it('leaves a place to each newcomer until more than a hundred founders hold all that they get', () => {
  const places = new HeldPlaces(1_000, 20);
  const counts = Array.from({ length: 100 }, (_, index) => takeAll(places, `f${index}`));
  expect(Math.min(...counts)).toBe(4);
});

it('takes a place back once', () => {
  const places = new HeldPlaces(1, 1);
  const giveBack = places.take('p', 'p');
  expect(places.take('q', 'q')).toBeNull();
  giveBack?.();
  giveBack?.();
  expect(places.inUse).toBe(0);
  expect([places.take('q', 'q'), places.take('p', 'p')]).toEqual([expect.any(Function), null]);
});
