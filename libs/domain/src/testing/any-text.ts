import * as fc from 'fast-check';

/** Code points from here on are halves of surrogate pairs, which are not characters. */
const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * Generates any code point. The unit 'binary' of fast-check does the same, but first fills a map of a million entries.
 */
const anyCharacter = fc.nat(0x10ffff - SURROGATES).map(
  (index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES),
  (text) => {
    const codePoint = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (codePoint === undefined || String.fromCodePoint(codePoint) !== text) throw new Error('not one character');
    return codePoint < FIRST_SURROGATE ? codePoint : codePoint - SURROGATES;
  },
);

/** Generates texts of any code points. */
export const anyText = (maxLength?: number): fc.Arbitrary<string> =>
  fc.string({ unit: anyCharacter, ...(maxLength === undefined ? {} : { maxLength }) });
