import { partsOf, placeIn } from './parts.ts';

const LINES = Array.from({ length: 1_000 }, (_, index) => `line ${index}\n`).join('');

it.each([
  ['an empty text', '', 1],
  ['a line', '{}', 1],
  ['a thousand lines', LINES, 3],
  ['one line that is very long', 'x'.repeat(100_000), 3],
  ['long lines', `${'x'.repeat(30_000)}\n`.repeat(3), 3],
])('partsOf splits %s into parts that form the whole', (_what, text, count) => {
  const { texts, whole } = partsOf(text);
  expect(whole).toBe(text);
  expect(texts.join('')).toBe(text);
  expect(texts).toHaveLength(count);
});

it('partsOf splits between lines', () => {
  expect(
    partsOf(LINES)
      .texts.slice(0, -1)
      .every((part) => part.endsWith('\n')),
  ).toBe(true);
});

it('placeIn finds the part and the offset of a character', () => {
  const parts = partsOf(LINES);
  const { index, offset } = placeIn(parts, LINES.indexOf('line 777'));
  expect(parts.texts[index]?.slice(offset, offset + 8)).toBe('line 777');
});

it.each([
  ['x', false],
  ['x\n'.repeat(2_000), true],
  ['x'.repeat(200_000), true],
])('isLong detects a part that is too long: case %#', (text, expected) => {
  expect(partsOf('').isLong(text)).toBe(expected);
});
