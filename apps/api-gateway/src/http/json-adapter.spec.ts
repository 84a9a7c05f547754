import { isMatch } from './json-adapter';

it.each([
  [undefined, false],
  ['"a.full"', true],
  ['W/"a.full"', true],
  ['"x", "a.full"', true],
  ['*', true],
  ['"a.header"', false],
  ['a.full', false],
])('If-None-Match %s: %s', (header, expected) => {
  expect(isMatch(header, '"a.full"')).toBe(expected);
});
