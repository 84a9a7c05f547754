import { align } from '../json/align';
import type { ValueClasses } from '../json/classes';
import { jsonEquals } from '../json/equals';
import { formatPointer, getMember } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';

/** A change of the attributes. Places are JSON Pointers into the later envelope. */
export interface AttributeChange {
  /** A new or changed value, or an object or array that lost a value. */
  place: string;
  /** The remaining children of an object or array. */
  left?: string[];
}

/** The result of {@link followAttribution}. */
export interface Followed {
  /** The draft with its attribution. */
  draft: JsonObject;
  /** The attribution alone. */
  paths: JsonObject;
  /** The base's references for each value, at the value's place in the draft. */
  kept: JsonObject;
  changes: AttributeChange[];
}

/**
 * Moves the attribution of a base to the places of its values in a draft: references follow their array elements, and
 * those of removed values are dropped. Changes that the draft itself made to `attribute_paths` are preserved.
 */
export function followAttribution(base: JsonObject, draft: JsonObject, classes: ValueClasses): Followed {
  const [from, to] = [attributesOf(base), attributesOf(draft)];
  const before = pathsOf(base);
  const paths = { ...pathsOf(draft) };
  if (jsonEquals(from, to)) return { draft, paths, kept: before, changes: [] };
  const kept: JsonObject = {};
  const changes: AttributeChange[] = [];

  const visit = (from: JsonValue | undefined, to: JsonValue, at: string, place: string, level: number): void => {
    const own = from === undefined ? undefined : before[at];
    if (own !== undefined) kept[place] = own;
    const left: string[] = [];
    let found = 0;
    const child = (key: string, next: JsonValue, nextKey = key): void => {
      const value = getMember(from!, key);
      if (value !== undefined) found++;
      const nextPlace = place + formatPointer([nextKey]);
      left.push(nextPlace);
      visit(value, next, at + formatPointer([key]), nextPlace, level + 1);
    };
    if (Array.isArray(from) && Array.isArray(to)) {
      align(from, to, level, classes).was.forEach((index, at) => child(`${index}`, to[at]!, `${at}`));
    } else if (isJsonObject(from) && isJsonObject(to)) {
      for (const key of Object.keys(to)) child(key, to[key]!);
    } else {
      if (!jsonEquals(from, to)) changes.push({ place });
      return;
    }
    if (found < Object.keys(from).length) changes.push({ place, left });
  };
  visit(from, to, ATTRIBUTES, ATTRIBUTES, 1);

  for (const path of Object.keys({ ...before, ...kept })) {
    if (!jsonEquals(paths[path], before[path])) continue;
    if (kept[path] !== undefined) paths[path] = kept[path];
    else if (path.startsWith(`${ATTRIBUTES}/`)) delete paths[path];
  }
  const isEmpty = Object.keys(paths).length === 0 && !draft['attribute_paths'];
  return { draft: isEmpty ? draft : { ...draft, attribute_paths: paths }, paths, kept, changes };
}

const ATTRIBUTES = '/attributes';

function attributesOf(envelope: JsonValue): JsonValue {
  return getMember(envelope, 'attributes') ?? {};
}

function pathsOf(envelope: JsonValue): JsonObject {
  const paths = getMember(envelope, 'attribute_paths');
  return isJsonObject(paths) ? paths : {};
}
