import {
  canonicalize,
  diff,
  type DiffOperation,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parsePointer,
} from '@iss/domain/pure';
import { contentOf } from '../proposals/draft/content.ts';

/** An operation of RFC 6902, with the previous value and the other half of a move. */
export interface Change {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  /** The new value; absent for a removal. */
  readonly value?: JsonValue;
  /** The previous value; absent for an addition. */
  readonly before?: JsonValue;
  /** The index of the change that adds the removed value elsewhere, or removed the added value. */
  readonly movedWith: number | null;
}

/** The changes between two versions, and both versions as parallel lines. */
export interface Comparison {
  readonly changes: readonly Change[];
  /** The lines of a side, joined. Both sides have the same number; a line without a counterpart is beside an empty one. */
  readonly left: string;
  readonly right: string;
  /** The index of the change that each pair of lines belongs to, or -1. */
  readonly changeOf: Int32Array;
}

/** How a value changes. */
type Mark =
  | { readonly is: 'same' }
  | { readonly is: 'added' | 'removed'; readonly change: number }
  | { readonly is: 'replaced'; readonly change: number; readonly before: JsonValue };

/** A place of both versions: a whole value, or an object or array with changes inside. */
type Place =
  | { readonly is: 'value'; readonly value: JsonValue; readonly mark: Mark }
  | { readonly is: 'object'; readonly members: Map<string, Place> }
  | Elements;

interface Elements {
  readonly is: 'array';
  readonly places: Place[];
  /** Operations come in the order of the array. `live` is the number of elements of the newer version before `at`. */
  at: number;
  live: number;
}

const INDENT = '  ';

/** Compares the members of two envelopes that writers set, as the client's `compare` does. */
export function comparisonOf(from: JsonObject, to: JsonObject): Comparison {
  const before = contentOf(from);
  const operations = diff(before, contentOf(to));
  const changes: Change[] = [];
  let root: Place = { is: 'value', value: before, mark: { is: 'same' } };
  for (const operation of operations) root = applied(root, operation, changes);
  const lines: Lines = { left: [], right: [], changeOf: [] };
  print(root, '', 0, lines);
  return {
    changes: withMoves(changes),
    left: lines.left.join('\n'),
    right: lines.right.join('\n'),
    changeOf: Int32Array.from(lines.changeOf),
  };
}

/** Marks an operation in the places. Removed values stay in their places. */
function applied(root: Place, operation: DiffOperation, changes: Change[]): Place {
  const tokens = parsePointer(operation.path);
  const last = tokens.pop();
  const change = changes.length;
  if (last === undefined) {
    const place = replaced(root, operation, change);
    changes.push(changeOf(operation, root));
    return place;
  }
  const opened = open(root);
  let around: Exclude<Place, { is: 'value' }> = opened;
  for (const token of tokens) {
    const inner = open(child(around, token));
    setChild(around, token, inner);
    around = inner;
  }
  if (around.is === 'object') {
    const before = around.members.get(last);
    around.members.set(last, replaced(before, operation, change));
    changes.push(changeOf(operation, before));
    return opened;
  }
  const at = seek(around, Number(last));
  if (operation.op === 'add') {
    around.places.splice(at, 0, replaced(undefined, operation, change));
    changes.push(changeOf(operation, undefined));
  } else {
    const before = around.places[at];
    around.places[at] = replaced(before, operation, change);
    changes.push(changeOf(operation, before));
  }
  return opened;
}

function changeOf(operation: DiffOperation, place: Place | undefined): Change {
  const before = place?.is === 'value' ? { before: place.value } : {};
  return { ...operation, ...before, movedWith: null };
}

/** Returns a place with an operation marked. */
function replaced(before: Place | undefined, operation: DiffOperation, change: number): Place {
  const value = before?.is === 'value' ? before.value : null;
  switch (operation.op) {
    case 'add':
      return { is: 'value', value: operation.value, mark: { is: 'added', change } };
    case 'remove':
      return { is: 'value', value, mark: { is: 'removed', change } };
    case 'replace':
      return { is: 'value', value: operation.value, mark: { is: 'replaced', change, before: value } };
  }
}

function open(place: Place): Exclude<Place, { is: 'value' }> {
  if (place.is !== 'value') return place;
  const { value } = place;
  const whole = (one: JsonValue): Place => ({ is: 'value', value: one, mark: { is: 'same' } });
  if (Array.isArray(value)) return { is: 'array', places: value.map(whole), at: 0, live: 0 };
  const members = isJsonObject(value) ? Object.entries(value) : [];
  return { is: 'object', members: new Map(members.map(([name, one]) => [name, whole(one)])) };
}

function child(around: Exclude<Place, { is: 'value' }>, token: string): Place {
  const found = around.is === 'object' ? around.members.get(token) : around.places[seek(around, Number(token))];
  if (found === undefined) throw new Error(`An operation names ${token}, which does not exist.`);
  return found;
}

function setChild(around: Exclude<Place, { is: 'value' }>, token: string, place: Place): void {
  if (around.is === 'object') around.members.set(token, place);
  else around.places[seek(around, Number(token))] = place;
}

/** Returns the position of an element among the places, which include removed elements. */
function seek(around: Elements, index: number): number {
  if (index < around.live) {
    around.at = 0;
    around.live = 0;
  }
  for (;;) {
    const place = around.places[around.at];
    if (place === undefined) return around.at;
    const isGone = place.is === 'value' && place.mark.is === 'removed';
    if (!isGone && around.live === index) return around.at;
    if (!isGone) around.live++;
    around.at++;
  }
}

/** A removal and an addition of an equal value that is shorter than this are not a move. */
const MOVED_LENGTH = 6;

/** Pairs removals and additions of equal values as moves. */
function withMoves(changes: readonly Change[]): Change[] {
  const gone = new Map<string, number[]>();
  const keyOf = (value: JsonValue | undefined): string | null => {
    const text = value === undefined ? '' : canonicalize(value);
    return text.length < MOVED_LENGTH ? null : text;
  };
  changes.forEach(({ op, before }, index) => {
    const key = op === 'remove' ? keyOf(before) : null;
    if (key !== null) gone.set(key, [...(gone.get(key) ?? []), index]);
  });
  const moved = [...changes];
  changes.forEach((change, index) => {
    const key = change.op === 'add' ? keyOf(change.value) : null;
    const from = key === null ? undefined : gone.get(key)?.shift();
    const other = from === undefined ? undefined : changes[from];
    if (from === undefined || other === undefined) return;
    moved[index] = { ...change, movedWith: from };
    moved[from] = { ...other, movedWith: index };
  });
  return moved;
}

interface Lines {
  readonly left: string[];
  readonly right: string[];
  readonly changeOf: number[];
}

function print(place: Place, label: string, depth: number, lines: Lines): void {
  if (place.is === 'value') return printValue(place.value, place.mark, label, depth, lines);
  const both = (text: string): void => add(lines, INDENT.repeat(depth) + text, INDENT.repeat(depth) + text, -1);
  if (place.is === 'array') {
    both(`${label}[`);
    for (const one of place.places) print(one, '', depth + 1, lines);
    both(']');
    return;
  }
  both(`${label}{`);
  const names = [...place.members.keys()].sort();
  for (const name of names) {
    const member = place.members.get(name);
    if (member !== undefined) print(member, `${JSON.stringify(name)}: `, depth + 1, lines);
  }
  both('}');
}

function printValue(value: JsonValue, mark: Mark, label: string, depth: number, lines: Lines): void {
  const text = linesOf(value, label, depth);
  switch (mark.is) {
    case 'same':
      return text.forEach((line) => add(lines, line, line, -1));
    case 'added':
      return text.forEach((line) => add(lines, '', line, mark.change));
    case 'removed':
      return text.forEach((line) => add(lines, line, '', mark.change));
    case 'replaced': {
      const before = linesOf(mark.before, label, depth);
      for (let at = 0; at < Math.max(before.length, text.length); at++)
        add(lines, before[at] ?? '', text[at] ?? '', mark.change);
    }
  }
}

function add(lines: Lines, left: string, right: string, change: number): void {
  lines.left.push(left);
  lines.right.push(right);
  lines.changeOf.push(change);
}

/** Returns a value as lines of JSON without commas. */
function linesOf(value: JsonValue, label: string, depth: number): string[] {
  const start = INDENT.repeat(depth) + label;
  const isArray = Array.isArray(value);
  if (!isArray && !isJsonObject(value)) return [start + JSON.stringify(value)];
  const inner = isArray
    ? value.flatMap((one) => linesOf(one, '', depth + 1))
    : Object.keys(value)
        .sort()
        .flatMap((name) => linesOf(value[name] ?? null, `${JSON.stringify(name)}: `, depth + 1));
  const [open, close] = isArray ? '[]' : '{}';
  return inner.length === 0
    ? [`${start}${open}${close}`]
    : [`${start}${open}`, ...inner, `${INDENT.repeat(depth)}${close}`];
}
