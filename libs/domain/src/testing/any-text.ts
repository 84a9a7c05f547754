import * as fc from 'fast-check';

/** Halves of a surrogate pair lie here: they are no characters by themselves. */
const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/** Gives any code point. The unit 'binary' of fast-check gives the same, and fills a map of a million entries first. */
const anyCharacter = fc.nat(0x10ffff - SURROGATES).map(
  (index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES),
  (text) => {
    const codePoint = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (codePoint === undefined || String.fromCodePoint(codePoint) !== text) throw new Error('not one character');
    return codePoint < FIRST_SURROGATE ? codePoint : codePoint - SURROGATES;
  },
);

/** Gives texts of any code points, of so many at most. */
export const anyText = (maxLength?: number): fc.Arbitrary<string> =>
  fc.string({ unit: anyCharacter, ...(maxLength === undefined ? {} : { maxLength }) });
