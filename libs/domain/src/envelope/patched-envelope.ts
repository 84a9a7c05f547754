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
import { type Envelope, validateEnvelope } from './envelope';
import { requirePatchAllowed } from './protected-roots';

/** The operations of a patch as its caller sent them. */
export interface SentPatch {
  ops: JsonValue;
  /** JSON Pointer of the operations in the request's body, which faults are named under. */
  at: string;
  /** Operations that the path family takes; absent: all six. */
  allowedOps?: readonly PatchOperation['op'][];
  maxOperations: number;
}

/** A patch that was accepted, on its base. */
export interface PatchOnBase {
  /** The envelope of the base, RFC 8785 text. */
  base: string;
  /** The operations, as {@link readPatch} gives them. */
  patchOps: string;
  at: string;
  limits: PatchedLimits;
  /** What the tenant demands of the evidence in the result. */
  policy: EvidencePolicy;
}

/** What a patch may do to an envelope: not make one that could not have been sent. */
export interface PatchedLimits {
  maxOperations: number;
  maxDepth: number;
  /** Bytes of the result without its `diff`. */
  maxBytes: number;
}

/** What the server sets of the envelope that an update leads to (contract, "Apply"). */
export interface NextEnvelope {
  snapshotVersion: number;
  generatedAt: string;
  audit: JsonObject;
  /** Of which, with the operations, the snapshot's id is made. */
  id: { subject_type: string; subject_id: string; base_snapshot_id: string };
  /** See {@link deriveSnapshotId}. */
  idSecret: string;
}

/**
 * The operations as RFC 8785 text, none of which touches what the server alone sets. Throws `validation_error` naming each
 * that is wrong.
 */
export function readPatch({ ops, ...options }: SentPatch): string {
  const operations = parsePatch(ops, options);
  requirePatchAllowed(operations, options.at);
  return canonicalize(plain(operations));
}

/** Throws `validation_error`, naming the operations, unless the patch makes an envelope that could have been sent. */
export function tryPatch(patch: PatchOnBase): void {
  const applied = apply(patch);
  requireValid(applied.result, applied, patch);
}

/** A patch that becomes a version. */
export interface UpdateToMake extends PatchOnBase {
  next: NextEnvelope;
  /** Null where nothing is known of the base, so that nothing can be said of what follows it. */
  baseOrigins: KnownOrigins | null;
}

/** A version that is to be written. */
export interface MadeVersion extends SealedEnvelope {
  traced: TracedVersion | null;
}

/** The envelope that a patch leads to with the server's own members, sealed and traced. Throws as {@link tryPatch}. */
export function applyUpdate({ next, baseOrigins, ...patch }: UpdateToMake): MadeVersion {
  const applied = apply(patch);
  const ops = plain(applied.operations);
  const { snapshotVersion, generatedAt, audit, id, idSecret } = next;
  const envelope: JsonObject = {
    ...applied.result,
    snapshot_id: deriveSnapshotId(idSecret, { ...id, patch_ops: ops }),
    snapshot_version: snapshotVersion,
    generated_at: generatedAt,
    audit,
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

/** The envelope, if it could have been sent and the policy allows it; else each problem at the operation behind it. */
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

/** Where an operation fails whose pointer would name something below `/attributes`, says so. */
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

/** Whether the pointer begins with nothing that the envelope has, and with a member of its `attributes`. */
function isBelowAttributes(base: JsonValue, pointer: string): boolean {
  const [root = '', ...rest] = parsePointer(pointer);
  return getAt(base, [root]) === undefined && rest.length > 0 && getAt(base, ['attributes', root]) !== undefined;
}

/** False where all that the base and the patch hold, of which only a copy makes more, is within the limit. */
function mayExceed(maxBytes: number, base: string, patchOps: string, operations: readonly PatchOperation[]): boolean {
  if (operations.some(({ op }) => op === 'copy')) return true;
  // A UTF-16 code unit takes at most three bytes of UTF-8.
  return 3 * (base.length + patchOps.length) > maxBytes;
}

function requireSize(maxBytes: number, result: JsonObject, at: string): void {
  // The diff of the base says nothing of the next snapshot, which gets its own.
  const lasting = { ...result };
  delete lasting['diff'];
  if (Buffer.byteLength(canonicalize(lasting)) <= maxBytes) return;
  throw new DomainError(
    'validation_error',
    `The patch produces an envelope of more than ${maxBytes} bytes. Shorten it.`,
    [{ path: at, message: 'makes the envelope too large', code: 'too_large' }],
  );
}
