import type { ItemFields } from '@iss/contract';
import { isJsonObject, type JsonObject, type JsonValue, MAX_PROBLEMS, setMember } from '@iss/domain';

/** More elements than any field of a fixed shape accepts (`REQUESTED_PATHS_MAX` is at most 10,000). */
const MAX_ELEMENTS = 16_384;

/**
 * Returns only the parts of a body that a fixed shape checks, so that little data passes between threads. Known members
 * stay. Unknown members stay without their values, as many as are reported. Arrays keep their elements, but the
 * elements are emptied, as are objects. Only elements and objects whose fields `items` names are treated like bodies. A
 * shape reports the same problems for the outline as for the body.
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
  if (!Array.isArray(value)) return itemFields === undefined ? emptied(value) : outlineOf(value, itemFields);
  const elements = value.slice(0, MAX_ELEMENTS);
  return elements.map((element) => (itemFields === undefined ? emptied(element) : outlineOf(element, itemFields)));
}

/** Returns the value, or an empty array or object in place of a non-empty one. */
function emptied(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return [];
  return isJsonObject(value) ? {} : value;
}
