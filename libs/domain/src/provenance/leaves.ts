import { DomainError } from '../errors';
import { MAX_RECURSION } from '../limits';
import { formatPointer, getMember } from '../json/pointer';
import { isJsonObject, isWithinDepth, type JsonObject, type JsonValue, sortKeys } from '../json/value';

/**
 * The leaves of attributes: all values except objects and arrays that are not empty. They have the order of the
 * canonical text (RFC 8785), so members are sorted by the UTF-16 code units of their keys. Empty attributes have no
 * leaves.
 */
export class Leaves {
  private readonly counts = new Map<JsonValue, number>();

  /** Counts the leaves in a value. A leaf counts as one. Each object and array is read once. */
  count(value: JsonValue): number {
    if (!isBranch(value)) return 1;
    let count = this.counts.get(value);
    if (count === undefined) {
      count = 0;
      for (const child of Array.isArray(value) ? value : Object.values(value)) count += this.count(child);
      this.counts.set(value, count);
    }
    return count;
  }

  /** Counts the leaves of all attributes. */
  countAll(attributes: JsonObject): number {
    return isBranch(attributes) ? this.count(attributes) : 0;
  }
}

/** Checks whether a value is an object or array that is not empty. */
export function isBranch(value: JsonValue): value is JsonObject | JsonValue[] {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  for (const _ in value) return true;
  return false;
}

/** Returns the keys of an object in canonical order. */
export function canonicalKeys(value: JsonObject): string[] {
  const keys = Object.keys(value);
  sortKeys(keys);
  return keys;
}

/** Returns the JSON Pointers of leaves in an envelope. `indexes` are their positions among all leaves, ascending. */
export function pathsOfLeaves(attributes: JsonObject, indexes: readonly number[]): string[] {
  const leaves = new Leaves();
  const paths: string[] = [];
  const tokens: (string | number)[] = ['attributes'];
  let at = 0;
  const visit = (value: JsonValue): void => {
    const wanted = indexes[paths.length];
    const count = leaves.count(value);
    if (wanted === undefined || wanted >= at + count) {
      at += count;
    } else if (!isBranch(value)) {
      paths.push(formatPointer(tokens));
      at++;
    } else {
      for (const key of Array.isArray(value) ? value.keys() : canonicalKeys(value)) {
        tokens.push(key);
        visit(childOf(value, key));
        tokens.pop();
      }
    }
  };
  if (isBranch(attributes)) visit(attributes);
  return paths;
}

/** Returns the child at a key that exists in the value. */
export function childOf(value: JsonObject | JsonValue[], key: string | number): JsonValue {
  return Array.isArray(value) ? value[Number(key)]! : value[key]!;
}

/**
 * Returns the attributes of an envelope. Throws `validation_error` if they are nested more deeply than any that may be
 * sent.
 */
export function attributesOf(envelope: JsonValue): JsonObject {
  const attributes = getMember(envelope, 'attributes');
  if (!isJsonObject(attributes)) return {};
  if (isWithinDepth(attributes, MAX_RECURSION)) return attributes;
  throw new DomainError(
    'validation_error',
    `Attributes nested more than ${MAX_RECURSION} levels deep have no provenance.`,
  );
}
