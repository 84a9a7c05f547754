import canonicalize from 'canonicalize';

/** A JSON value, as `JSON.parse` makes it. */
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * The value of RFC 8785 text; undefined for any other text. Independent of the code that writes envelopes: where the
 * ECMAScript serializer gives the text back and all keys stand in order it is canonical, and whatever that does not settle
 * (integer keys, escapes, depth) is left to another author's implementation.
 */
export function canonicalValue(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    const isSettled = !text.includes('\\u') && isInOrder(value, MAX_RECURSION) && JSON.stringify(value) === text;
    return isSettled || canonicalize(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Deeper than that another implementation looks. */
const MAX_RECURSION = 500;

function isInOrder(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.every((element) => isInOrder(element, levels - 1));
  let before: string | null = null;
  for (const key of Object.keys(value)) {
    if (before !== null && before >= key) return false;
    before = key;
    const member = value[key];
    if (member === undefined || !isInOrder(member, levels - 1)) return false;
  }
  return true;
}
