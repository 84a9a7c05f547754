import { type api, compare, type PatchOperation } from '@identity-state/client';
import { getAt, type JsonValue, parsePointer, parseStoredJson } from '@iss/domain/pure';

/** A place whose value differs between two versions. */
export interface ValueChange {
  path: string;
  /** Undefined if the place is new. */
  before: JsonValue | undefined;
  /** Undefined if the place was removed. */
  after: JsonValue | undefined;
}

/** Compares the contents of two versions. */
export function contentChanges(from: api.Envelope, to: api.Envelope): ValueChange[] {
  const operations = compare(from, to);
  // Elements of an array can move, so that indexes do not correspond. A changed array is shown as a whole.
  const places = new Set(operations.map((operation) => placeOf(from, to, operation)));
  return [...places].map((path) => ({ path, before: valueAtPath(from, path), after: valueAtPath(to, path) }));
}

/** Returns the outermost array on the path of an operation, or the path itself. */
function placeOf(from: api.Envelope, to: api.Envelope, { path }: PatchOperation): string {
  const tokens = path.split('/');
  for (let length = 2; length < tokens.length; length++) {
    const place = tokens.slice(0, length).join('/');
    if (Array.isArray(valueAtPath(from, place)) || Array.isArray(valueAtPath(to, place))) return place;
  }
  return path;
}

export function valueAtPath(envelope: api.Envelope, path: string): JsonValue | undefined {
  return getAt(parseStoredJson(JSON.stringify(envelope)), parsePointer(path));
}
