import {
  plainDiff,
  getMember,
  isJsonObject,
  jsonEquals,
  type JsonObject,
  type JsonValue,
  PROTECTED_ROOTS,
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
 * The patch that makes a draft of its base, with evidence attached to what it changed.
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
  const root = PROTECTED_ROOTS.find((name) => !isSame(from[name], to[name]));
  if (root !== undefined) throw new IdentityStateError(`The draft changes ${root}, of the service.`);
  return plainDiff(from, evidence.length === 0 ? to : withEvidence(from, to, evidence));
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

/** The evidence, and for each place of the attributes that changed that it is from there. What the draft says itself stays. */
function withEvidence(from: JsonObject, to: JsonObject, evidence: readonly Evidence[]): JsonObject {
  const added = evidence.map(jsonOf);
  const before = Array.isArray(to['evidence']) ? to['evidence'] : [];
  const items = [...before, ...added.filter((item) => !before.some((other) => isSame(keyOf(item), keyOf(other))))];
  const references = added.map(keyOf);
  const pathsBefore = objectOf(from['attribute_paths']);
  const paths = { ...objectOf(to['attribute_paths']) };
  for (const { op, path } of plainDiff(from['attributes'] ?? {}, to['attributes'] ?? {})) {
    const place = `/attributes${path}`;
    for (const path of Object.keys(paths)) {
      const isOverridden = path === place || path.startsWith(`${place}/`);
      if (isOverridden && isSame(paths[path], pathsBefore[path])) delete paths[path];
    }
    if (op !== 'remove') paths[place] ??= references;
  }
  return { ...to, evidence: items, attribute_paths: paths };
}

/** What a reference has of an item. */
function keyOf(item: JsonValue): JsonObject {
  return {
    evidence_id: getMember(item, 'evidence_id') ?? null,
    evidence_type: getMember(item, 'evidence_type') ?? null,
  };
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return one === undefined || other === undefined ? one === other : jsonEquals(one, other);
}

function objectIn(envelope: Envelope<object>): JsonObject {
  const value = jsonOf(envelope);
  if (isJsonObject(value)) return value;
  throw new IdentityStateError('It is no envelope.');
}
