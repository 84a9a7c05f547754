import { formatPointer } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';

/** A member of `attributes.identifiers`, folded, so that different spellings of an identifier are equal. */
export interface Identifier {
  scheme: string;
  value: string;
}

/** An identifier with its JSON Pointer in the envelope. */
export interface IdentifierTerm extends Identifier {
  path: string;
}

/** An identifier to search, folded. Its scheme is null if any will do. */
export interface SoughtIdentifier {
  scheme: string | null;
  value: string;
}

/** The terms by which a subject can be found. */
export interface SearchTerms {
  /** The legal name, or else the name of the individual, folded. Null without a name. */
  name: string | null;
  /** The same name for lists: not folded, with single spaces, and at most {@link MAX_DISPLAY_NAME} characters. */
  displayName: string | null;
  /** The JSON Pointer of the name. If given and family name form it, that of their parent. */
  namePath: string | null;
  identifiers: readonly IdentifierTerm[];
}

/**
 * The number of identifiers of a subject that can be found. Identifiers beyond it, in the order of their schemes,
 * cannot be found.
 */
export const MAX_IDENTIFIERS = 64;
/** Characters of a folded scheme and of a folded value. A longer identifier cannot be found. */
export const MAX_SCHEME = 64;
export const MAX_IDENTIFIER = 256;
/** Characters of a folded name. The rest of a longer name is not searched. */
export const MAX_NAME = 128;
/** Characters of a name in lists. The rest of a longer name is cut off. */
export const MAX_DISPLAY_NAME = 200;

const CONTROL = /\p{Cc}/u;

/** Returns the search terms of an envelope: its name, and the members of `attributes.identifiers` that are strings. */
export function searchTermsOf(envelope: JsonObject): SearchTerms {
  const attributes = at(envelope, 'attributes');
  const { identifiers } = identifiersOf(attributes);
  return {
    ...namesOf(attributes),
    identifiers: [...identifiers].map(([scheme, { key, value }]) => ({
      scheme,
      value,
      path: formatPointer(['attributes', 'identifiers', key]),
    })),
  };
}

/** Returns pairs of keys in `attributes.identifiers` that spell the same scheme. A search finds only one of them. */
export function schemesSpeltTwice(envelope: JsonObject): readonly [key: string, again: string][] {
  return identifiersOf(at(envelope, 'attributes')).twice;
}

function identifiersOf(attributes: JsonValue | undefined) {
  const identifiers = new Map<string, { key: string; value: string }>();
  const twice: [key: string, again: string][] = [];
  const given = at(attributes, 'identifiers');
  for (const key of isJsonObject(given) ? Object.keys(given).sort() : []) {
    if (identifiers.size === MAX_IDENTIFIERS) break;
    const identifier = foldIdentifier(key, at(given, key));
    if (identifier === null) continue;
    const { scheme, value } = identifier;
    const known = identifiers.get(scheme);
    if (known !== undefined) twice.push([known.key, key]);
    identifiers.set(scheme, { key, value });
  }
  return { identifiers, twice };
}

/** Parses and folds `scheme:value`, or a value without its scheme. Returns null if no identifier can match it. */
export function parseIdentifier(text: string): SoughtIdentifier | null {
  const colon = text.indexOf(':');
  if (colon >= 0) return foldIdentifier(text.slice(0, colon), text.slice(colon + 1));
  const value = foldValue(text);
  return value === null ? null : { scheme: null, value };
}

/** Folds case as Unicode full case folding does, and applies NFKC: `ß`, `ẞ` and `SS` become `ss`, a final sigma `σ`. */
const folded = (text: string): string =>
  text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');

/** Lower-case Latin letters that Unicode does not decompose. */
const BASE_LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    æ: 'ae',
    œ: 'oe',
    þ: 'th',
    ø: 'o',
    đ: 'd',
    ð: 'd',
    ɖ: 'd',
    ɗ: 'd',
    ł: 'l',
    ħ: 'h',
    ŋ: 'n',
    ŧ: 't',
    ə: 'e',
    ǝ: 'e',
    ɛ: 'e',
    ɔ: 'o',
    ɓ: 'b',
    ƙ: 'k',
    ƴ: 'y',
    ƶ: 'z',
    ǥ: 'g',
    ɨ: 'i',
    ʉ: 'u',
  }),
);

/** Folds accents of Latin, Greek and Cyrillic: `ü` becomes `u`, `ø` becomes `o`. Keeps the marks of other scripts. */
const withoutAccents = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^\0-\x7f]/gu, (letter) => BASE_LETTERS.get(letter) ?? letter)
    .normalize('NFKC');

const spacedOnce = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
const firstOf = (text: string, count: number): string =>
  [...text.slice(0, 16 * count)].slice(0, count).join('').trimEnd();

/** Folds a name: NFKC, folded case and accents, single spaces, and at most the first {@link MAX_NAME} characters. */
export function foldName(text: string): string {
  return firstOf(spacedOnce(withoutAccents(folded(text.slice(0, 16 * MAX_NAME)))), MAX_NAME);
}

/** Folds an identifier. Both parts get NFKC and folded case. Schemes are lower case. */
function foldIdentifier(key: string, given: JsonValue | undefined): Identifier | null {
  if (typeof given !== 'string' || key.length > 4 * MAX_SCHEME) return null;
  const scheme = folded(key).trim();
  const value = foldValue(given);
  if (scheme === '' || scheme.includes(':') || CONTROL.test(scheme) || scheme.length > MAX_SCHEME) return null;
  return value === null ? null : { scheme, value };
}

/** Folds the value of an identifier to upper case without spaces, hyphens and dots. Returns null if it cannot be found. */
function foldValue(given: string): string | null {
  if (given.length > 4 * MAX_IDENTIFIER) return null;
  const value = folded(given)
    .toUpperCase()
    .replace(/[\s.\p{Pd}]+/gu, '');
  return value === '' || CONTROL.test(value) || value.length > MAX_IDENTIFIER ? null : value;
}

const LEGAL_NAME = '/attributes/legal/legal_name';
const NAME = '/attributes/biographic/name';

function namesOf(attributes: JsonValue | undefined): Omit<SearchTerms, 'identifiers'> {
  const name = at(at(attributes, 'biographic'), 'name');
  const parts = [at(name, 'given_name'), at(name, 'family_name')].filter((part) => typeof part === 'string');
  const names = [
    [LEGAL_NAME, at(at(attributes, 'legal'), 'legal_name')],
    [`${NAME}/formatted_name`, at(name, 'formatted_name')],
    [NAME, parts.join(' ')],
  ] as const;
  for (const [namePath, one] of names) {
    const folded = typeof one === 'string' ? foldName(one) : '';
    if (typeof one === 'string' && folded !== '')
      return { name: folded, displayName: firstOf(spacedOnce(one), MAX_DISPLAY_NAME), namePath };
  }
  return { name: null, displayName: null, namePath: null };
}

function at(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
