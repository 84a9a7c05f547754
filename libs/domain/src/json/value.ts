/** A JSON value as RFC 8259 defines it, held as plain JavaScript data. Objects may hold any own key, `__proto__` included. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether at most `maxDepth` arrays and objects lie inside one another; looks no deeper than that. */
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

/** By UTF-16 code units, in place; the keys of a canonical text are in that order already. */
export function sortKeys(keys: string[]): void {
  for (let at = 1; at < keys.length; at++) {
    if (keys[at - 1]! > keys[at]!) {
      keys.sort();
      return;
    }
  }
}
