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
import { IdentityStateError, VerificationError } from '../errors.ts';
import { jsonOf } from '../json.ts';
import type { Envelope, Evidence, PatchOperation } from '../types.ts';

/** Returns the members of an envelope that a writer can set. */
function contentOf(envelope: Envelope<object>): JsonObject {
  return Object.fromEntries(Object.entries(objectIn(envelope)).filter(([root]) => !PROTECTED_ROOTS.includes(root)));
}

/**
 * Computes the minimal JSON Patch (RFC 6902) between the contents of two envelopes, as the service does. The result of verified envelopes
 * needs no further verification.
 */
export function compare(from: Envelope<object>, to: Envelope<object>): PatchOperation[] {
  return plainDiff(contentOf(from), contentOf(to));
}

/**
 * Computes the patch from a base to a draft, with evidence for the changed values. The evidence of an array element moves with the element,
 * unless the draft names evidence for it.
 *
 * @throws IdentityStateError if the draft changes a member that only the service sets
 */
export function patchOf(
  base: Envelope<object>,
  draft: Envelope<object>,
  evidence: readonly Evidence[],
): PatchOperation[] {
  const from = objectIn(base);
  const to = objectIn(draft);
  const root = PROTECTED_ROOTS.find((name) => !jsonEquals(from[name], to[name]));
  if (root !== undefined) throw new IdentityStateError(`Only the service sets ${root}.`);
  return plainDiff(from, attributed(from, to, evidence));
}

/** @throws VerificationError `written` unless the version is the base with the patch */
export function requireWritten(
  base: Envelope<object>,
  patch: readonly PatchOperation[],
  written: Envelope<object>,
): void {
  // The diff is deterministic, so the difference must equal the patch.
  const differs = plainDiff(contentOf(base), contentOf(written));
  if (jsonEquals(jsonOf(differs), jsonOf(patch))) return;
  throw new VerificationError('written', 'The version differs from the patch.');
}

/**
 * Returns the draft with the attribution of the base moved along with its values, and with the evidence linked to each changed value. For a
 * removed value, the evidence is linked to the enclosing object or array. The remaining values there keep their references.
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

/** Returns the references of a place or of its nearest ancestor. */
function coverOf(paths: JsonObject, place: string): JsonValue[] {
  const cover = paths[place];
  if (Array.isArray(cover)) return cover;
  return place === '' ? [] : coverOf(paths, place.slice(0, place.lastIndexOf('/')));
}

/** Returns the members of an item that a reference contains. */
function keyOf(item: JsonValue): JsonObject {
  return {
    evidence_id: getMember(item, 'evidence_id') ?? null,
    evidence_type: getMember(item, 'evidence_type') ?? null,
  };
}

function objectIn(envelope: Envelope<object>): JsonObject {
  const value = jsonOf(envelope);
  if (isJsonObject(value)) return value;
  throw new IdentityStateError('Not an envelope.');
}
