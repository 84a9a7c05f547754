import { isJsonObject, type JsonObject, type JsonValue, MAX_PROBLEMS, setMember } from '@iss/domain';

/** By the name of a member whose elements have a fixed shape, the names that this knows. */
export type ItemFields = Readonly<Record<string, readonly string[]>>;

/** More elements than any field of a fixed shape takes (`REQUESTED_PATHS_MAX` is at most 10,000). */
const MAX_ELEMENTS = 16_384;

/**
 * As much of a body as a fixed shape looks at, so that no more of it comes from one thread to another: its known members,
 * and as many unknown ones, without their values, as are told of. Of a member that is an array its elements, and nothing of
 * what lies in those; of one that is an object nothing, since no such field is one. A shape says of it what it says of the
 * whole. Elements of which `items` knows the fields are bodies of their own.
 */
export function outlineOf(body: JsonValue, fields: readonly string[], items: ItemFields = {}): JsonValue {
  if (!isJsonObject(body)) return emptied(body);
  const known = new Set(fields);
  const outline: JsonObject = {};
  let unknown = 0;
  for (const key of Object.keys(body)) {
    if (known.has(key)) setMember(outline, key, ofMember(body[key] ?? null, items[key]));
    else if (unknown++ < MAX_PROBLEMS) setMember(outline, key, null);
  }
  return outline;
}

function ofMember(value: JsonValue, itemFields: readonly string[] | undefined): JsonValue {
  if (!Array.isArray(value)) return emptied(value);
  const elements = value.slice(0, MAX_ELEMENTS);
  return elements.map((element) => (itemFields === undefined ? emptied(element) : outlineOf(element, itemFields)));
}

/** The value, if nothing lies in it; else an empty one of its kind. */
function emptied(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return [];
  return isJsonObject(value) ? {} : value;
}
