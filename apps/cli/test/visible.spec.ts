import { visible, visibleLines } from '../src/visible';
import { table } from '../src/output';
import { iss } from './testing/run-iss';

/** All C0 and C1 characters, DEL, and characters that change the direction of writing or are invisible. */
const HIDDEN = [
  ...Array.from({ length: 0x20 }, (_one, code) => code),
  ...Array.from({ length: 0x21 }, (_one, at) => 0x7f + at),
  ...[0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f],
  ...[0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2061, 0x2066, 0x2067, 0x2068, 0x2069],
  ...[0x2800, 0x3164, 0xd800, 0xdfff, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xe0001, 0xe0041, 0xe0100],
].map((code) => String.fromCodePoint(code));

const escapeOf = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

it('visible truncates a text after 2,000 characters', () => {
  expect(visible('x'.repeat(2_000))).toBe('x'.repeat(2_000));
  expect(visible('x'.repeat(2_001))).toBe(`${'x'.repeat(2_000)} …`);
});

it('visible and visibleLines escape every control and invisible character', () => {
  for (const character of HIDDEN) {
    expect(visible(`a${character}b`)).toBe(`a${escapeOf(character)}b`);
    const isLayout = character === '\n' || character === '\t';
    expect(visibleLines(`a${character}b`, true)).toBe(isLayout ? `a${character}b` : `a${escapeOf(character)}b`);
  }
});

it('visible and visibleLines keep the letters of all scripts', () => {
  const text = 'Grüße, Ελλάδα, Україна, 中文, ישראל, العربية, हिन्दी, 한국어 🙂 \\u001b';
  expect([visible(text), visibleLines(text, false)]).toEqual([text, text]);
});

it('visibleLines keeps colour sequences only, and only if the screen shows colours', () => {
  const painted = '\u001b[31mred\u001b[39m \u001b]0;title\u0007\u001b[2J';
  expect(visibleLines(painted, true)).toBe('\u001b[31mred\u001b[39m \\u001b]0;title\\u0007\\u001b[2J');
  expect(visibleLines(painted, false)).not.toContain('\u001b');
});

it('visibleLines keeps JSON equivalent', () => {
  const value = { text: HIDDEN.join(' '), list: ['\u202e'] };
  for (const indent of [0, 2]) {
    const shown = visibleLines(JSON.stringify(value, null, indent), false);
    expect(JSON.parse(shown)).toEqual(value);
    expect(shown).toMatch(/^[\n -~]*$/);
  }
});

it('table escapes its cells before it measures them', () => {
  const rows = [{ name: 'a\nb', place: 'x' }];
  expect(table(rows)).toBe('NAME      PLACE\na\\u000ab  x');
});

it('a complaint escapes the arguments that it quotes', async () => {
  const { complaint } = await iss(['get', 'a', '--\u202eevil\u001b[2J']);
  expect(complaint).toMatch(/\\u202eevil\\u001b\[2J/);
});
