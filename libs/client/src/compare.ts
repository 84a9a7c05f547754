import {
  followAttribution,
  getMember,
  isJsonObject,
  jsonEquals,
  type JsonObject,
  type JsonValue,
  plainDiff,
  PROTECTED_ROOTS,
  TextClasses,
} from '@iss/domain/pure';
import { IdentityStateError, VerificationError } from './errors.ts';
import { jsonOf } from './json.ts';
import type { Envelope, Evidence, PatchOperation } from './types.ts';

/** What an envelope consists of beside what the service alone sets. */
function contentOf(envelope: Envelope<object>): JsonObject {
  return Object.fromEntries(Object.entries(objectIn(envelope)).filter(([root]) => !PROTECTED_ROOTS.includes(root)));
}

/**
 * The minimal JSON Patch (RFC 6902) from one envelope's content to another's: as the service's own diff, of all that a
 * writer decides. Computed here, so that it is as true as what was verified.
 */
export function compare(from: Envelope<object>, to: Envelope<object>): PatchOperation[] {
  return plainDiff(contentOf(from), contentOf(to));
}

/**
 * The patch that makes a draft of its base, with evidence attached to what it changed. Evidence that the base names for an
 * element of an array moves with the element, unless the draft says itself what that rests on.
 *
 * @throws IdentityStateError for a draft that changes what the service alone sets
 */
export function patchOf(
  base: Envelope<object>,
  draft: Envelope<object>,
  evidence: readonly Evidence[],
): PatchOperation[] {
  const from = objectIn(base);
  const to = objectIn(draft);
  const root = PROTECTED_ROOTS.find((name) => !jsonEquals(from[name], to[name]));
  if (root !== undefined) throw new IdentityStateError(`The draft changes ${root}, of the service.`);
  return plainDiff(from, attributed(from, to, evidence));
}

/** @throws VerificationError `written` unless the version has the content of the draft that it was made of */
export function requireWritten(
  base: Envelope<object>,
  patch: readonly PatchOperation[],
  written: Envelope<object>,
): void {
  // A diff is deterministic: what was to be changed is what differs now.
  const differs = plainDiff(contentOf(base), contentOf(written));
  if (jsonEquals(jsonOf(differs), jsonOf(patch))) return;
  throw new VerificationError('written', 'The version is not its base with the patch.');
}

/**
 * Returns the draft with the attribution of the base where its values are now, and with the evidence named for each value
 * that changed. For a removed value that is the object or array around it; what stays there keeps what covered it.
 */
function attributed(from: JsonObject, to: JsonObject, evidence: readonly Evidence[]): JsonObject {
  const { draft, paths, kept, changes } = followAttribution(from, to, new TextClasses());
  if (evidence.length === 0) return draft;
  const added = evidence.map(jsonOf);
  const before = Array.isArray(to['evidence']) ? to['evidence'] : [];
  const items = [...before, ...added.filter((item) => !before.some((other) => jsonEquals(keyOf(item), keyOf(other))))];
  const references = added.map(keyOf);
  for (const { place, left } of changes) {
    if (!jsonEquals(paths[place], kept[place])) continue;
    const cover = left ? coverOf(paths, place) : [];
    for (const child of left ?? []) paths[child] ??= cover;
    paths[place] = [...cover, ...references];
  }
  return { ...to, evidence: items, attribute_paths: paths };
}

/** The references nearest to a place, at it or around it. */
function coverOf(paths: JsonObject, place: string): JsonValue[] {
  const cover = paths[place];
  if (Array.isArray(cover)) return cover;
  return place === '' ? [] : coverOf(paths, place.slice(0, place.lastIndexOf('/')));
}

/** What a reference has of an item. */
function keyOf(item: JsonValue): JsonObject {
  return {
    evidence_id: getMember(item, 'evidence_id') ?? null,
    evidence_type: getMember(item, 'evidence_type') ?? null,
  };
}

function objectIn(envelope: Envelope<object>): JsonObject {
  const value = jsonOf(envelope);
  if (isJsonObject(value)) return value;
  throw new IdentityStateError('It is no envelope.');
}
