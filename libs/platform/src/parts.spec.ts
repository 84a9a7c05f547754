import { partsOf } from './parts';

it.each([
  [[], []],
  [
    [3, 3, 3, 1],
    [
      [3, 3],
      [3, 1],
    ],
  ],
  [
    [9, 1, 9],
    [[9], [1], [9]],
  ],
  [[6], [[6]]],
])('splits %j into parts of at most 6, unless a single item is larger', (items, parts) => {
  expect(partsOf(items, (item) => item, 6)).toEqual(parts);
});
