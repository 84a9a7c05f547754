import {
  applyPatch,
  canonicalize,
  changedPointers,
  DEFAULT_PATCH_LIMITS,
  DomainError,
  type Envelope,
  type ErrorDetail,
  getAt,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parsePatch,
  parsePointer,
  parseStoredJson,
  type PatchOperation,
  requirePatchAllowed,
  validateEnvelope,
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
  const base = parseStoredJson(baseText);
  const patched = withHints(base, operations, at, () =>
    applyPatch(base, operations, at, { ...DEFAULT_PATCH_LIMITS, maxDepth: jsonDepth }),
  );
  if (!isJsonObject(patched)) throw new Error('A patch that may not touch the whole envelope replaced it');
  if (mayExceed(bodyBytes, baseText, operations)) requireSize(bodyBytes, patched, at);
  return patched;
}

/**
 * A patched envelope as one that could have been sent. Throws `validation_error` with the operation that touched each place
 * that is wrong, and the place in the result.
 */
export function requireValidResult(patched: JsonObject, operations: readonly PatchOperation[], at: string): Envelope {
  try {
    return validateEnvelope(patched);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const message = 'The patch makes an envelope that is not valid. See details for each operation and place.';
    const details = error.details?.map((detail) => atOperation(detail, operations, at));
    throw new DomainError(error.code, message, details);
  }
}

/** The detail at the last operation that touched its place; where none did by name, at the last one below the same root. */
function atOperation(detail: ErrorDetail, operations: readonly PatchOperation[], at: string): ErrorDetail {
  const lastThat = (touches: (pointer: string) => boolean): number =>
    operations.findLastIndex((operation) => changedPointers(operation).some(touches));
  const direct = lastThat((pointer) => isWithin(pointer, detail.path) || isWithin(detail.path, pointer));
  const index = direct >= 0 ? direct : lastThat((pointer) => rootOf(pointer) === rootOf(detail.path));
  if (index < 0) return detail;
  return { ...detail, path: `${at}/${index}`, message: `in the result, ${detail.path} ${detail.message}` };
}

const rootOf = (pointer: string): string | undefined => parsePointer(pointer)[0];

function isWithin(pointer: string, outer: string): boolean {
  return pointer === outer || pointer.startsWith(`${outer}/`);
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
