import canonicalize from 'canonicalize';

/** A JSON value, as `JSON.parse` makes it. */
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * Returns the value of RFC 8785 text, and undefined for any other text. Shares nothing with the code that writes envelopes: the
 * ECMAScript serializer settles the common case, and the package `canonicalize` settles integer keys, escapes and depth.
 */
export function canonicalValue(text: string): Json | undefined {
  try {
    const value = parse(text);
    const isSettled = !text.includes('\\u') && isInOrder(value, MAX_RECURSION) && JSON.stringify(value) === text;
    return isSettled || canonicalize(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Parses a JSON text. `JSON.parse` can return a wrong key where a key has an escape (nodejs/node#63785). If the value does not give
 * the text back, a marker replaces each backslash while the text is parsed.
 */
function parse(text: string): Json {
  const value: Json = JSON.parse(text);
  if (!text.includes('\\') || JSON.stringify(value) === text) return value;
  const marked = text
    .replaceAll(MARKER, `${MARKER}m`)
    .replace(/\\(.)/g, (_, escape) => MARKER + (escape === '"' ? 'q' : escape));
  return JSON.parse(marked, (_key, member: Json) => unmarked(member));
}

/** A private-use character; `m` after it means the character itself, and `q` a quotation mark. */
const MARKER = '\ue000';

function unmarked(value: Json): Json {
  if (typeof value === 'string') return unmarkedText(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [unmarkedText(key), member]));
}

const unmarkedText = (text: string): string =>
  text.replace(/\ue000(u[0-9a-f]{4}|.)/gs, (_, escape: string) =>
    escape === 'm' ? MARKER : String(JSON.parse(`"\\${escape === 'q' ? '"' : escape}"`)),
  );

/** The package `canonicalize` settles deeper values. */
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
