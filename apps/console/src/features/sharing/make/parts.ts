import {
  formatPointer,
  getAt,
  getMember,
  isJsonObject,
  isPointer,
  type JsonObject,
  type JsonValue,
  parsePointer,
  setMember,
} from '@iss/domain/pure';
import { TEXT } from '../words.ts';

export const ATTRIBUTES = '/attributes';
/** The maximum number of paths of a grant. */
const MOST_PATHS = 100;
/** Members with these names cannot be part of a view (RFC 9901, section 4.1). */
const RESERVED: readonly string[] = ['_sd', '...'];

export type Shown = 'all' | 'some' | 'none';

/** Returns the paths of a text with one path on each line, sorted, without those below another one. */
export function pathsOf(text: string): string[] {
  const paths = [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '');
  return paths.filter((path) => !paths.some((wider) => isBelow(path, wider))).sort();
}

/** Returns why paths cannot be granted; undefined if they can. */
export function faultOfPaths(paths: readonly string[]): string | undefined {
  if (paths.length === 0) return TEXT.parts.none;
  if (paths.length > MOST_PATHS) return TEXT.parts.tooMany(paths.length, MOST_PATHS);
  const wrong = paths.find((path) => !isPointer(path) || !isBelow(path, ATTRIBUTES));
  return wrong === undefined ? undefined : TEXT.parts.noPath(wrong);
}

/** Returns how much of the value at a pointer the paths show. */
export function shownOf(paths: readonly string[], pointer: string): Shown {
  if (paths.some((path) => covers(path, pointer))) return 'all';
  return paths.some((path) => isBelow(path, pointer)) ? 'some' : 'none';
}

/**
 * Ticks the value at a pointer, or removes its tick. A ticked group replaces the ticks below it. If a group is ticked as a whole, a
 * value below it loses its tick, and the other members of the group keep theirs.
 */
export function toggle(paths: readonly string[], pointer: string, attributes: JsonObject): string[] {
  const wider = paths.find((path) => covers(path, pointer));
  if (wider === undefined) return [...paths.filter((path) => !isBelow(path, pointer)), pointer].sort();
  const kept = paths.filter((path) => path !== wider);
  const tokens = parsePointer(pointer);
  for (let depth = parsePointer(wider).length; depth < tokens.length; depth++) {
    const group = getAt(attributes, tokens.slice(1, depth));
    const names = isJsonObject(group) ? Object.keys(group).filter((name) => name !== tokens[depth]) : [];
    kept.push(...names.map((name) => formatPointer([...tokens.slice(0, depth), name])));
  }
  return kept.sort();
}

/** Returns the part of an envelope that a grant with these paths shows: attributes, evidence and attribution. */
export function previewOf(envelope: JsonObject, paths: readonly string[]): JsonObject {
  const attributes: JsonObject = {};
  const found = paths.filter((path) => copyAt(envelope['attributes'] ?? {}, parsePointer(path).slice(1), attributes));
  const all = isJsonObject(envelope['attribute_paths']) ? Object.entries(envelope['attribute_paths']) : [];
  const attributed: JsonObject = {};
  for (const [path, references] of all) {
    const isTouched = found.some((one) => covers(one, path) || isBelow(one, path));
    if (isTouched && !RESERVED.includes(path) && !hasReserved(references)) setMember(attributed, path, references);
  }
  const named = new Set(Object.values(attributed).flat().map(keyOfEvidence));
  const items = Array.isArray(envelope['evidence']) ? envelope['evidence'] : [];
  return {
    attributes,
    evidence: items.filter((item) => named.has(keyOfEvidence(item)) && !hasReserved(item)),
    ...(Object.keys(attributed).length === 0 ? {} : { attribute_paths: attributed }),
  };
}

/** Copies the value at reference tokens, with the groups around it. Returns whether there is one. Paths do not lead into arrays. */
function copyAt(from: JsonValue, tokens: readonly string[], to: JsonObject): boolean {
  if (tokens.some((token) => RESERVED.includes(token))) return false;
  const way = tokens.map((_, depth) => getAt(from, tokens.slice(0, depth)));
  const value = getAt(from, tokens);
  if (value === undefined || !way.every(isJsonObject)) return false;
  let group = to;
  for (const token of tokens.slice(0, -1)) {
    const known = getMember(group, token);
    const next = isJsonObject(known) ? known : {};
    if (next !== known) setMember(group, token, next);
    group = next;
  }
  setMember(group, tokens.at(-1) ?? '', withoutReserved(value));
  return true;
}

function withoutReserved(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutReserved);
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    if (!RESERVED.includes(name)) setMember(copy, name, withoutReserved(member));
  }
  return copy;
}

function hasReserved(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some(hasReserved);
  return (
    isJsonObject(value) && Object.entries(value).some(([name, one]) => RESERVED.includes(name) || hasReserved(one))
  );
}

function keyOfEvidence(item: JsonValue): string {
  return JSON.stringify([getMember(item, 'evidence_type') ?? null, getMember(item, 'evidence_id') ?? null]);
}

function covers(path: string, pointer: string): boolean {
  return path === pointer || isBelow(pointer, path);
}

function isBelow(path: string, wider: string): boolean {
  return path.startsWith(`${wider}/`);
}
