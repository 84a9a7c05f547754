/** A JSON value (RFC 8259) as plain JavaScript data. Objects may have any own key, including `__proto__`. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks whether arrays and objects are nested at most `maxDepth` deep. Does not read deeper than that. */
export function isWithinDepth(value: JsonValue, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (maxDepth <= 0) return false;
  if (Array.isArray(value)) {
    for (const element of value) if (!isWithinDepth(element, maxDepth - 1)) return false;
  } else {
    for (const key in value) if (!isWithinDepth(value[key]!, maxDepth - 1)) return false;
  }
  return true;
}

/**
 * Sorts keys in place by UTF-16 code units and returns whether anything moved. The lists are short and often sorted
 * already; insertion is then several times as fast as the built-in sort.
 */
export function sortKeys(keys: string[]): boolean {
  let hasMoved = false;
  for (let end = 1; end < keys.length; end++) {
    const key = keys[end]!;
    if (keys[end - 1]! <= key) continue;
    hasMoved = true;
    if (keys.length > 32) {
      keys.sort();
      break;
    }
    let at = end;
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
  return hasMoved;
}
