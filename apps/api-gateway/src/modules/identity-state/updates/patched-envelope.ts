import {
  applyPatch,
  canonicalize,
  DEFAULT_PATCH_LIMITS,
  DomainError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parsePatch,
  parseStoredJson,
  type PatchOperation,
  requirePatchAllowed,
} from '@iss/domain';
import type { Limits } from '@iss/platform';

/** The operations of a patch as its caller sent them. */
export interface SentPatch {
  ops: JsonValue;
  /** JSON Pointer of the operations in the request's body, which faults are named under. */
  at: string;
  /** Operations that the path family takes; absent: all six. */
  allowedOps?: readonly PatchOperation['op'][];
}

/** The operations, none of which touches what the server alone sets. Throws `validation_error` naming each that is wrong. */
export function requireOperations({ ops, at, allowedOps }: SentPatch, limits: Limits): PatchOperation[] {
  const operations = parsePatch(ops, {
    at,
    maxOperations: limits.patchOperations,
    ...(allowedOps === undefined ? {} : { allowedOps }),
  });
  requirePatchAllowed(operations, at);
  return operations;
}

/** The patched envelope. A patch may not make one that could not have been sent. */
export function patchEnvelope(
  baseText: string,
  operations: readonly PatchOperation[],
  at: string,
  { bodyBytes, jsonDepth }: Limits,
): JsonObject {
  const patched = applyPatch(parseStoredJson(baseText), operations, at, {
    ...DEFAULT_PATCH_LIMITS,
    maxDepth: jsonDepth,
  });
  if (!isJsonObject(patched)) throw new Error('A patch that may not touch the whole envelope replaced it');
  if (mayExceed(bodyBytes, baseText, operations)) requireSize(bodyBytes, patched, at);
  return patched;
}

/** False where all that the base and the patch hold, of which only a copy makes more, is within the limit. */
function mayExceed(bodyBytes: number, baseText: string, operations: readonly PatchOperation[]): boolean {
  if (operations.some(({ op }) => op === 'copy')) return true;
  // A UTF-16 code unit takes at most three bytes of UTF-8.
  return 3 * (baseText.length + JSON.stringify(operations).length) > bodyBytes;
}

function requireSize(bodyBytes: number, patched: JsonObject, at: string): void {
  // The diff of the base says nothing of the next snapshot, which gets its own.
  const lasting = { ...patched };
  delete lasting['diff'];
  if (Buffer.byteLength(canonicalize(lasting)) <= bodyBytes) return;
  throw new DomainError('validation_error', `The patch makes an envelope of more than ${bodyBytes} bytes.`, [
    { path: at, message: 'makes the envelope too large', code: 'too_large' },
  ]);
}
