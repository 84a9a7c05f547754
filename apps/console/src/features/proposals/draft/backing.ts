import { getAt, isJsonObject, type JsonObject, type JsonValue, parsePointer, setMember } from '@iss/domain/pure';
import { isSame, attributionOf, valueAt, withValue } from './content.ts';

export function evidenceOf(content: JsonObject): readonly JsonValue[] {
  const { evidence } = content;
  return Array.isArray(evidence) ? evidence : [];
}

/** Returns a text member, or an empty text. */
export function textMember(value: JsonValue | undefined, name: string): string {
  const text = isJsonObject(value) ? getAt(value, [name]) : undefined;
  return typeof text === 'string' ? text : '';
}

export function refersTo(reference: JsonValue, item: JsonValue): boolean {
  return (
    textMember(reference, 'evidence_id') === textMember(item, 'evidence_id') &&
    textMember(reference, 'evidence_type') === textMember(item, 'evidence_type')
  );
}

export function referenceTo(item: JsonValue): JsonObject {
  return { evidence_id: textMember(item, 'evidence_id'), evidence_type: textMember(item, 'evidence_type') };
}

/** Returns the role of the first reference to an item that has one, or an empty text. */
export function roleOf(content: JsonObject, item: JsonValue): string {
  const own = Object.values(attributionOf(content)).flatMap((references) =>
    Array.isArray(references) ? references : [],
  );
  return textMember(
    own.find((reference) => refersTo(reference, item)),
    'role',
  );
}

/** Sets the role of all references to an item. */
export function withRole(content: JsonObject, item: JsonValue, role: string): JsonObject {
  return withReferences(content, (one) => (refersTo(one, item) && isJsonObject(one) ? { ...one, role } : one));
}

function withReferences(content: JsonObject, change: (reference: JsonValue) => JsonValue): JsonObject {
  const paths: JsonObject = {};
  for (const [path, references] of Object.entries(attributionOf(content))) {
    setMember(paths, path, Array.isArray(references) ? references.map(change) : references);
  }
  return { ...content, attribute_paths: paths };
}

/** Returns the references that cover a place: those at the nearest pointer, at it or above it. */
export function coverOf(content: JsonObject, pointer: string): readonly JsonValue[] {
  const paths = attributionOf(content);
  for (let place = pointer; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
    const references = Object.hasOwn(paths, place) ? paths[place] : undefined;
    if (Array.isArray(references)) return references;
  }
  return [];
}

/**
 * The evidence status of a value in a draft (docs/provenance.md). `kept`: the draft changes neither the value nor its
 * evidence.
 */
export type Fit = 'current' | 'carried' | 'missing' | 'none' | 'kept';

export function fitOf(base: JsonObject, content: JsonObject, pointer: string, isChanged: boolean): Fit {
  const cover = coverOf(content, pointer);
  if (cover.length === 0) return 'none';
  const items = cover.map((reference) => itemOf(content, reference));
  if (items.includes(undefined)) return 'missing';
  const before = coverOf(base, pointer);
  const isCoverSame =
    isSame([...cover], [...before]) && cover.every((one) => isSame(itemOf(base, one), itemOf(content, one)));
  if (!isCoverSame) return 'current';
  return isChanged ? 'carried' : 'kept';
}

export function itemOf(content: JsonObject, reference: JsonValue): JsonValue | undefined {
  return evidenceOf(content).find((item) => refersTo(reference, item));
}

function isGroup(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

/**
 * Adds or removes an item as evidence of a value. Adding drops references to missing items. If the value changed or its
 * evidence `isStale`, adding an item that is not in the base also drops references to items of the base.
 */
export function withSupport(
  base: JsonObject,
  content: JsonObject,
  item: JsonValue,
  { pointer, isOn, isStale = false }: { pointer: string; isOn: boolean; isStale?: boolean },
): JsonObject {
  const paths = attributionOf(content);
  const value = valueAt(content, pointer);
  const before = valueAt(base, pointer);
  // If members of a group or list were removed, the others keep their evidence.
  const isReduced = isGroup(before) && isGroup(value);
  const isOutdated = isStale || (!isReduced && !isSame(before, value));
  const isNew = itemOf(base, item) === undefined;
  const cover = coverOf(content, pointer);
  const isValid = (reference: JsonValue): boolean =>
    itemOf(content, reference) !== undefined && !(isOutdated && isNew && itemOf(base, reference) !== undefined);
  const others = (isOn ? cover.filter(isValid) : cover).filter((reference) => !refersTo(reference, item));
  const ownBefore = attributionOf(base)[pointer];
  const role = roleOf(content, item) || 'primary';
  const references = isOn ? [...others, { ...referenceTo(item), role }] : others;
  if (references.length > 0) return { ...content, attribute_paths: { ...paths, [pointer]: references } };
  const rest = { ...paths };
  delete rest[pointer];
  if (isNew && ownBefore !== undefined) rest[pointer] = ownBefore;
  return withPaths(base, content, rest);
}

/**
 * Sets a value at a place. If the draft adds evidence for it, the previous evidence is dropped; it returns with the previous
 * value.
 */
export function withValueAt(base: JsonObject, content: JsonObject, pointer: string, value: JsonValue): JsonObject {
  const next = withValue(content, parsePointer(pointer), value);
  const before = valueAt(base, pointer);
  const [wasSame, isNowSame] = [isSame(before, valueAt(content, pointer)), isSame(before, value)];
  const paths = attributionOf(next);
  const own = Object.hasOwn(paths, pointer) ? paths[pointer] : undefined;
  if (wasSame === isNowSame || !Array.isArray(own)) return next;
  const added = own.filter(
    (reference) => itemOf(base, reference) === undefined && itemOf(content, reference) !== undefined,
  );
  if (added.length === 0) return next;
  const references = isNowSame ? [...coverOf(base, pointer), ...added] : added;
  return { ...next, attribute_paths: { ...paths, [pointer]: references } };
}

/** Sets the attribution. Leaves out an empty one if the base has none. */
function withPaths(base: JsonObject, content: JsonObject, paths: JsonObject): JsonObject {
  const next: JsonObject = { ...content, attribute_paths: paths };
  if (Object.keys(paths).length === 0 && base['attribute_paths'] === undefined) delete next['attribute_paths'];
  return next;
}

/** Replaces or removes (null) the item at an index, and updates the references to it. */
export function withItem(base: JsonObject, content: JsonObject, index: number, item: JsonObject | null): JsonObject {
  const items = [...evidenceOf(content)];
  const before = items[index];
  if (before === undefined) return content;
  let next = content;
  if (item === null) {
    for (const pointer of supportedBy(content, before)) {
      next = withSupport(base, next, before, { pointer, isOn: false });
    }
    items.splice(index, 1);
    return { ...next, evidence: items };
  }
  items[index] = item;
  if (!refersTo(before, item)) {
    const moved = withReferences(content, (one) =>
      refersTo(one, before) && isJsonObject(one) ? { ...one, ...referenceTo(item) } : one,
    );
    next = withPaths(base, content, attributionOf(moved));
  }
  return { ...next, evidence: items };
}

/**
 * Adds an item as evidence of a value and of all others with the same fault: places with the same dangling reference, and
 * the places `stale`, whose evidence is outdated.
 */
export function withMended(
  base: JsonObject,
  content: JsonObject,
  item: JsonValue,
  { pointer, stale }: { pointer: string; stale: readonly string[] },
): JsonObject {
  const dangling = coverOf(content, pointer).filter((reference) => itemOf(content, reference) === undefined);
  const places = dangling.length > 0 ? dangling.flatMap((reference) => supportedBy(content, reference)) : [pointer];
  let next = content;
  for (const place of new Set([...places, ...stale])) {
    next = withSupport(base, next, item, { pointer: place, isOn: true, isStale: stale.includes(place) });
  }
  return next;
}

/** Returns the places at which the attribution names an item. */
export function supportedBy(content: JsonObject, item: JsonValue): string[] {
  return Object.entries(attributionOf(content)).flatMap(([path, references]) =>
    Array.isArray(references) && references.some((reference) => refersTo(reference, item)) ? [path] : [],
  );
}
