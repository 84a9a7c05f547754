import { type SealedEnvelope, sealEnvelope } from '../chain/sealed-envelope';
import { deriveSnapshotId } from '../chain/snapshot-id';
import { DomainError, type ErrorDetail } from '../errors';
import { canonicalize } from '../json/canonicalize';
import { parseStoredJson } from '../json/parse';
import { applyPatch, parsePatch, type PatchOperation, problemsOfPatch } from '../json/patch';
import { getAt, parsePointer } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { againstPolicy, type EvidencePolicy, policyProblems } from '../provenance/evidence-policy';
import type { KnownOrigins } from '../provenance/origins';
import { traceVersion, type TracedVersion } from '../provenance/trace';
import type { ChangeKind } from '../statuses';
import { type Envelope, validateEnvelope } from './envelope';
import { requirePatchAllowed } from './protected-roots';

/** The operations of a patch as the caller sent them. */
export interface SentPatch {
  ops: JsonValue;
  /** JSON Pointer to the operations in the request body. Errors use it as a prefix. */
  at: string;
  /** The operations that the route accepts. Absent: all six. */
  allowedOps?: readonly PatchOperation['op'][];
  maxOperations: number;
}

/** An accepted patch and the envelope that it is applied to. */
export interface PatchOnBase {
  /** The base envelope as RFC 8785 text. */
  base: string;
  /** The operations as returned by {@link readPatch}. */
  patchOps: string;
  at: string;
  limits: PatchedLimits;
  /** The tenant's policy for the evidence in the result. */
  policy: EvidencePolicy;
}

/** The limits of a patched envelope. They are those of an envelope that is sent. */
export interface PatchedLimits {
  maxOperations: number;
  maxDepth: number;
  /** Size of the result without its `diff`, in bytes. */
  maxBytes: number;
}

/** The members that the server sets in the envelope of an applied update (contract, "Apply"). */
export interface NextEnvelope {
  snapshotVersion: number;
  generatedAt: string;
  changeKind: ChangeKind;
  audit: JsonObject;
  /** The snapshot's id is derived from this and the operations. */
  id: { subject_type: string; subject_id: string; base_snapshot_id: string };
  /** See {@link deriveSnapshotId}. */
  idSecret: string;
}

/**
 * Validates a patch and returns its operations as RFC 8785 text. Throws `validation_error` that names each invalid
 * operation, including those that change a member which only the server may set.
 */
export function readPatch({ ops, ...options }: SentPatch): string {
  const operations = parsePatch(ops, options);
  requirePatchAllowed(operations, options.at);
  return canonicalize(plain(operations));
}

/**
 * Throws `validation_error` that names the operations, unless the patched envelope would be accepted if it were sent.
 */
export function tryPatch(patch: PatchOnBase): void {
  const applied = apply(patch);
  requireValid(applied.result, applied, patch);
}

/** A patch that becomes a version. */
export interface UpdateToMake extends PatchOnBase {
  next: NextEnvelope;
  /** Null if the provenance of the base is unknown. That of the new version is unknown then, too. */
  baseOrigins: KnownOrigins | null;
}

/** A version that is ready to be stored. */
export interface MadeVersion extends SealedEnvelope {
  traced: TracedVersion | null;
}

/** Applies a patch and sets the server's members; seals and traces the result. Throws as {@link tryPatch} does. */
export function applyUpdate({ next, baseOrigins, ...patch }: UpdateToMake): MadeVersion {
  const applied = apply(patch);
  const ops = plain(applied.operations);
  const { snapshotVersion, generatedAt, changeKind, audit, id, idSecret } = next;
  const result = { ...applied.result };
  delete result['change_kind'];
  const envelope: JsonObject = {
    ...result,
    snapshot_id: deriveSnapshotId(idSecret, { ...id, patch_ops: ops }),
    snapshot_version: snapshotVersion,
    generated_at: generatedAt,
    audit,
    ...(changeKind === 'change' ? {} : { change_kind: changeKind }),
    diff: { format: 'rfc6902', ops },
  };
  const sealed = sealEnvelope(requireValid(envelope, applied, patch));
  const { base } = applied;
  return { ...sealed, traced: baseOrigins && traceVersion(base, baseOrigins.origins, envelope, snapshotVersion) };
}

interface Applied {
  base: JsonValue;
  operations: readonly PatchOperation[];
  result: JsonObject;
}

function apply({ base: baseText, patchOps, at, limits }: PatchOnBase): Applied {
  const base = parseStoredJson(baseText);
  const operations = parsePatch(parseStoredJson(patchOps), { at, maxOperations: limits.maxOperations });
  const result = withHints(base, operations, at, () => applyPatch(base, operations, at, { maxDepth: limits.maxDepth }));
  if (!isJsonObject(result)) throw new Error('A patch that may not touch the whole envelope replaced it');
  if (mayExceed(limits.maxBytes, baseText, patchOps, operations)) requireSize(limits.maxBytes, result, at);
  return { base, operations, result };
}

/**
 * Returns the envelope if it is valid and satisfies the policy. Otherwise reports each problem at the operation that
 * caused it.
 */
function requireValid(
  envelope: JsonObject,
  { base, operations }: Applied,
  { at, limits, policy }: PatchOnBase,
): Envelope {
  const { maxDepth } = limits;
  const ofPatch = (problems: readonly ErrorDetail[]): ErrorDetail[] =>
    problemsOfPatch(problems, base, operations, at, { maxDepth });
  let valid: Envelope;
  try {
    valid = validateEnvelope(envelope);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const message = 'The patch produces an invalid envelope. See details for each operation and place.';
    throw new DomainError(error.code, message, ofPatch(error.details ?? []));
  }
  const problems = policyProblems(policy, base, envelope);
  if (problems.length > 0) throw againstPolicy(policy, ofPatch(problems));
  return valid;
}

function plain(operations: readonly PatchOperation[]): JsonObject[] {
  return operations.map((operation) => ({ ...operation }));
}

/** Adds a hint to an error if the operation's pointer lacks the prefix `/attributes`. */
function withHints<T>(base: JsonValue, operations: readonly PatchOperation[], at: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const [detail] = error.details ?? [];
    const operation = operations.find((_, index) => detail?.path === `${at}/${index}`);
    const pointers = operation === undefined ? [] : [operation.path, ...('from' in operation ? [operation.from] : [])];
    const forgetful = pointers.find((pointer) => isBelowAttributes(base, pointer));
    if (detail === undefined || forgetful === undefined) throw error;
    const hint = ` Did you mean ${JSON.stringify(`/attributes${forgetful}`)}?`;
    throw new DomainError(error.code, error.message + hint, [{ ...detail, message: detail.message + hint }]);
  }
}

/** Checks whether the first token of the pointer is a member of `attributes` and not of the envelope. */
function isBelowAttributes(base: JsonValue, pointer: string): boolean {
  const [root = '', ...rest] = parsePointer(pointer);
  return getAt(base, [root]) === undefined && rest.length > 0 && getAt(base, ['attributes', root]) !== undefined;
}

/**
 * Returns false if the result is certainly within the limit, because base and patch together are. Only `copy` can make
 * the result larger than both.
 */
function mayExceed(maxBytes: number, base: string, patchOps: string, operations: readonly PatchOperation[]): boolean {
  if (operations.some(({ op }) => op === 'copy')) return true;
  // A UTF-16 code unit takes at most three bytes of UTF-8.
  return 3 * (base.length + patchOps.length) > maxBytes;
}

function requireSize(maxBytes: number, result: JsonObject, at: string): void {
  // The base's `diff` is not counted: the next snapshot gets its own.
  const lasting = { ...result };
  delete lasting['diff'];
  if (Buffer.byteLength(canonicalize(lasting)) <= maxBytes) return;
  throw new DomainError(
    'validation_error',
    `The patch produces an envelope of more than ${maxBytes} bytes. Shorten it.`,
    [{ path: at, message: 'makes the envelope too large', code: 'too_large' }],
  );
}
