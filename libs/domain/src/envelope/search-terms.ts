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
  const identifiers = new Map<string, string>();
  const given = at(attributes, 'identifiers');
  for (const key of isJsonObject(given) ? Object.keys(given).sort() : []) {
    if (identifiers.size === MAX_IDENTIFIERS) break;
    const identifier = foldIdentifier(key, at(given, key));
    if (identifier !== null) identifiers.set(identifier.scheme, identifier.value);
  }
  return {
    name: nameOf(attributes),
    identifiers: [...identifiers].map(([scheme, value]) => ({ scheme, value })),
  };
}

/** `scheme:value`, folded as what it is to find; null where nothing can be found by it. */
export function parseIdentifier(text: string): Identifier | null {
  const colon = text.indexOf(':');
  return colon < 0 ? null : foldIdentifier(text.slice(0, colon), text.slice(colon + 1));
}

/** NFKC, in lower case, with one space where there was any; its first {@link MAX_NAME} characters. */
export function foldName(text: string): string {
  // What is cut off first cannot come into the result: folding makes no two characters one but for combining ones.
  const folded = text
    .slice(0, 16 * MAX_NAME)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return [...folded].slice(0, MAX_NAME).join('').trimEnd();
}

/** Schemes in lower case, values in upper case without spaces, hyphens and dots; both NFKC. */
function foldIdentifier(key: string, given: JsonValue | undefined): Identifier | null {
  if (typeof given !== 'string' || key.length > 4 * MAX_SCHEME || given.length > 4 * MAX_IDENTIFIER) return null;
  const scheme = key.normalize('NFKC').trim().toLowerCase();
  const value = given
    .normalize('NFKC')
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
