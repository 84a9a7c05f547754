import { LinePlaces } from './line-places';

/** Takes places for small lines until one has to wait. Returns the places and the waiting line. */
function fill(places: LinePlaces, founder: string): { given: (() => void)[]; last: Promise<() => void> } {
  const given: (() => void)[] = [];
  for (;;) {
    const taken = places.take(founder, 100);
    if (taken instanceof Promise) return { given, last: taken };
    given.push(taken);
  }
}

it('LinePlaces limits a founder to a quarter of the places, until one of its lines is written', async () => {
  const places = new LinePlaces(8);
  const { given, last } = fill(places, 'a');
  expect(given).toHaveLength(512);
  given[0]?.();
  expect(await last).toEqual(expect.any(Function));
});

it('LinePlaces gives a place to another founder while one waits for its share', () => {
  const places = new LinePlaces(8);
  fill(places, 'a');
  expect(places.take('b', 100)).toEqual(expect.any(Function));
});

it('LinePlaces counts a large line by its bytes, but at most as a quarter of the places', () => {
  const places = new LinePlaces(1);
  for (const founder of ['a', 'b', 'c']) expect(places.take(founder, 1_000_000_000)).toEqual(expect.any(Function));
  expect(places.take('a', 1)).toBeInstanceOf(Promise);
  expect(places.take('d', 1_048_576)).toEqual(expect.any(Function));
});

it('LinePlaces does not let a small line overtake a large one that waits', async () => {
  const places = new LinePlaces(1);
  const held = ['a', 'b', 'c', 'd'].map((founder) => places.take(founder, 1_048_576));
  const waiting = places.take('e', 1_048_576);
  expect(waiting).toBeInstanceOf(Promise);
  const small = places.take('f', 1);
  expect(small).toBeInstanceOf(Promise);
  for (const giveBack of held.slice(0, 2)) if (!(giveBack instanceof Promise)) giveBack();
  expect([await waiting, await small]).toEqual([expect.any(Function), expect.any(Function)]);
});
