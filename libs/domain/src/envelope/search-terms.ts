import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';

/** A member of `attributes.identifiers`, folded: two ways to write one identifier are one. */
export interface Identifier {
  scheme: string;
  value: string;
}

/** By what a subject is found. */
export interface SearchTerms {
  /** The legal name, else the name of the individual, folded; null where there is none. */
  name: string | null;
  identifiers: readonly Identifier[];
}

/** Identifiers of a subject that are found; further ones, in the order of their schemes' names, are not. */
export const MAX_IDENTIFIERS = 64;
/** Characters of a folded scheme and of a folded value: a longer one is not found. */
export const MAX_SCHEME = 64;
export const MAX_IDENTIFIER = 256;
/** Characters of a folded name by which it is found: the first of them. */
export const MAX_NAME = 128;

const CONTROL = /\p{Cc}/u;

/** The terms of an envelope: of its name, and of the members of `attributes.identifiers` that are strings. */
export function searchTermsOf(envelope: JsonObject): SearchTerms {
  const attributes = at(envelope, 'attributes');
  const { identifiers } = identifiersOf(attributes);
  return {
    name: nameOf(attributes),
    identifiers: [...identifiers].map(([scheme, { value }]) => ({ scheme, value })),
  };
}

/** Returns the keys of `attributes.identifiers` that are two spellings of one scheme, of which a search finds one alone. */
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

/** `scheme:value`, folded as what it is to find; null where nothing can be found by it. */
export function parseIdentifier(text: string): Identifier | null {
  const colon = text.indexOf(':');
  return colon < 0 ? null : foldIdentifier(text.slice(0, colon), text.slice(colon + 1));
}

/** Folds case as Unicode's full case folding does, and NFKC: `ß`, `ẞ` and `SS` become `ss`, a final sigma becomes `σ`. */
const folded = (text: string): string =>
  text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');

/** NFKC, with case folded, with one space where there was any; its first {@link MAX_NAME} characters. */
export function foldName(text: string): string {
  // What is cut off first cannot come into the result: folding makes no two characters one but for combining ones.
  const name = folded(text.slice(0, 16 * MAX_NAME))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return [...name].slice(0, MAX_NAME).join('').trimEnd();
}

/** Schemes in lower case, values in upper case without spaces, hyphens and dots; both with case folded, and NFKC. */
function foldIdentifier(key: string, given: JsonValue | undefined): Identifier | null {
  if (typeof given !== 'string' || key.length > 4 * MAX_SCHEME || given.length > 4 * MAX_IDENTIFIER) return null;
  const scheme = folded(key).trim();
  const value = folded(given)
    .toUpperCase()
    .replace(/[\s.\p{Pd}]+/gu, '');
  if (scheme === '' || value === '' || scheme.includes(':') || CONTROL.test(scheme) || CONTROL.test(value)) return null;
  if (scheme.length > MAX_SCHEME || value.length > MAX_IDENTIFIER) return null;
  return { scheme, value };
}

function nameOf(attributes: JsonValue | undefined): string | null {
  const name = at(at(attributes, 'biographic'), 'name');
  const parts = [at(name, 'given_name'), at(name, 'family_name')].filter((part) => typeof part === 'string');
  for (const one of [at(at(attributes, 'legal'), 'legal_name'), at(name, 'formatted_name'), parts.join(' ')]) {
    const folded = typeof one === 'string' ? foldName(one) : '';
    if (folded !== '') return folded;
  }
  return null;
}

function at(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
