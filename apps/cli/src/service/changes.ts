import { type api, compare, type PatchOperation } from '@identity-state/client';
import { getAt, type JsonValue, parsePointer, parseStoredJson } from '@iss/domain/pure';

/** What one version says otherwise than an earlier one. */
export interface ValueChange {
  path: string;
  /** Undefined: there was none. */
  before: JsonValue | undefined;
  /** Undefined: it is gone. */
  after: JsonValue | undefined;
}

/** The values that changed, as they stood and as they stand: of what the two versions themselves say. */
export function changesBetween(from: api.Envelope, to: api.Envelope): ValueChange[] {
  const operations = compare(from, to);
  // Of an array whose elements move the places of one version are not those of the other: shown as a whole.
  const places = new Set(operations.map((operation) => placeOf(from, to, operation)));
  return [...places].map((path) => ({ path, before: valueAt(from, path), after: valueAt(to, path) }));
}

/** The place that an operation is at, in both versions: the outermost array on its way, else its own path. */
function placeOf(from: api.Envelope, to: api.Envelope, { path }: PatchOperation): string {
  const tokens = path.split('/');
  for (let length = 2; length < tokens.length; length++) {
    const place = tokens.slice(0, length).join('/');
    if (Array.isArray(valueAt(from, place)) || Array.isArray(valueAt(to, place))) return place;
  }
  return path;
}

export function valueAt(envelope: api.Envelope, path: string): JsonValue | undefined {
  return getAt(parseStoredJson(JSON.stringify(envelope)), parsePointer(path));
}
