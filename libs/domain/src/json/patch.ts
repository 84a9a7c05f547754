import { DomainError, type ErrorDetail } from '../errors';
import { DEFAULT_PATCH_LIMITS, MAX_PROBLEMS, type PatchLimits } from '../limits';
import { Draft, PatchFault, type PatchOperation } from './draft';
import { getMember, isPointer, parsePointer, shortPointer } from './pointer';
import { isJsonObject, type JsonObject, type JsonValue } from './value';

export type { PatchOperation } from './draft';

const OPS: readonly PatchOperation['op'][] = ['add', 'remove', 'replace', 'move', 'copy', 'test'];

/**
 * Reads a JSON Patch document (RFC 6902 sections 3 and 4) out of a request body. Members that RFC 6902 does not define
 * are left out of the result. `options.at` is the JSON Pointer of the patch in the body; `options.allowedOps` narrows the
 * six operations.
 *
 * Throws `DomainError('validation_error')` with a detail for every problem (the first 100), at paths like
 * `/patch_ops/3/op`.
 */
export function parsePatch(
  value: JsonValue,
  options: { at: string; maxOperations: number; allowedOps?: readonly PatchOperation['op'][] },
): PatchOperation[] {
  const { at, maxOperations, allowedOps = OPS } = options;
  const details: ErrorDetail[] = [];
  const operations: PatchOperation[] = [];
  if (!Array.isArray(value)) {
    details.push({ path: at, message: 'Must be an array of JSON Patch operations (RFC 6902).', code: 'invalid_type' });
  } else if (value.length > maxOperations) {
    const message = `A patch can have at most ${maxOperations} operations; this one has ${value.length}.`;
    details.push({ path: at, message, code: 'too_many_operations' });
  } else {
    for (let index = 0; index < value.length && details.length < MAX_PROBLEMS; index++) {
      const operation = parseOperation(value[index]!, `${at}/${index}`, allowedOps, details);
      if (operation) operations.push(operation);
    }
  }
  if (details.length > 0) {
    throw new DomainError(
      'validation_error',
      'The patch is not valid. See details for each operation.',
      details.slice(0, MAX_PROBLEMS),
    );
  }
  return operations;
}

function parseOperation(
  item: JsonValue,
  at: string,
  allowedOps: readonly PatchOperation['op'][],
  details: ErrorDetail[],
): PatchOperation | undefined {
  if (!isJsonObject(item)) {
    details.push({ path: at, message: 'Must be an object with "op" and "path".', code: 'invalid_type' });
    return undefined;
  }
  const sent = getMember(item, 'op');
  const op = allowedOps.find((allowed) => allowed === sent);
  if (sent === undefined) {
    details.push({ path: `${at}/op`, message: 'Is required.', code: 'required' });
  } else if (op === undefined) {
    const message = `Must be one of ${allowedOps.join(', ')}.`;
    details.push({ path: `${at}/op`, message, code: typeof sent === 'string' ? 'unknown_operation' : 'invalid_type' });
  }
  const path = pointerMember(item, 'path', at, details);
  switch (op) {
    case 'add':
    case 'replace':
    case 'test': {
      const value = getMember(item, 'value');
      if (value === undefined) {
        details.push({ path: `${at}/value`, message: `Is required for "${op}".`, code: 'required' });
        return undefined;
      }
      return path === undefined ? undefined : { op, path, value };
    }
    case 'move':
    case 'copy': {
      const from = pointerMember(item, 'from', at, details);
      return path === undefined || from === undefined ? undefined : { op, from, path };
    }
    case 'remove':
      return path === undefined ? undefined : { op, path };
    case undefined:
      return undefined;
  }
}

function pointerMember(item: JsonObject, name: string, at: string, details: ErrorDetail[]): string | undefined {
  const pointer = getMember(item, name);
  if (typeof pointer === 'string' && isPointer(pointer)) return pointer;
  const path = `${at}/${name}`;
  if (pointer === undefined) details.push({ path, message: 'Is required.', code: 'required' });
  else if (typeof pointer !== 'string') details.push({ path, message: 'Must be a string.', code: 'invalid_type' });
  else details.push({ path, message: 'Must be a JSON Pointer (RFC 6901).', code: 'invalid_pointer' });
  return undefined;
}

/**
 * The document that results from applying all operations in order (RFC 6902 sections 4 and 5). Sees and changes own
 * members only. Neither `document` nor `operations` is changed; the result shares with them what no operation touched.
 * Takes time and memory in proportion to the document, the operations and `limits.maxCopied`, and as much as
 * `limits.maxShifted` lets it.
 *
 * Throws `DomainError('validation_error')` at the first operation that fails, or that passes `limits`, with one detail at
 * `at` + `/` + its index (code `test_failed` for a `test`); where what was moved lies too deep in the result, that is the
 * operation that put it there. Then nothing has happened.
 */
export function applyPatch(
  document: JsonValue,
  operations: readonly PatchOperation[],
  at = '',
  limits: Partial<PatchLimits> = {},
): JsonValue {
  return patched(document, operations, at, limits).root;
}

function patched(
  document: JsonValue,
  operations: readonly PatchOperation[],
  at: string,
  limits: Partial<PatchLimits>,
): Draft {
  const draft = new Draft(document, { ...DEFAULT_PATCH_LIMITS, ...limits });
  operations.forEach((operation, index) => {
    try {
      draft.apply(operation, index);
    } catch (error) {
      throw asFailureOf(error, operation, `${at}/${index}`, index);
    }
  });
  const tooDeep = draft.placeTooDeep();
  if (tooDeep !== undefined) {
    // Nothing is where it is but by an operation.
    const index = draft.operationBehind(tooDeep) ?? 0;
    throw asFailureOf(draft.tooDeep(tooDeep), operations[index]!, `${at}/${index}`, index);
  }
  return draft;
}

function asFailureOf(error: unknown, operation: PatchOperation, path: string, index: number): unknown {
  if (!(error instanceof PatchFault)) return error;
  const from = 'from' in operation ? ` from "${shortPointer(operation.from)}" to` : '';
  const what = `${operation.op}${from} "${shortPointer(operation.path)}"`;
  const message = `Patch operation ${index} (${what}) cannot be applied: ${error.message}`;
  return new DomainError('validation_error', message, [{ path, message, code: error.code }]);
}

/**
 * Problems of a patch's result as problems of the patch: `path` names the operation that did it (`/patch_ops/3`), the
 * last that changed the place, something around it or something inside it; the message names the place in the result. A
 * problem that no operation has to do with is put down to the patch as a whole, at `at`.
 *
 * @param problems with JSON Pointers into the result of applying `operations` to `document`, which succeeds.
 */
export function problemsOfPatch(
  problems: readonly ErrorDetail[],
  document: JsonValue,
  operations: readonly PatchOperation[],
  at: string,
  limits: Partial<PatchLimits> = {},
): ErrorDetail[] {
  const draft = patched(document, operations, at, limits);
  return problems.map(({ path, message, ...more }) => {
    const index = draft.operationBehind(tokensOf(path));
    const place = path === '' ? 'the document' : shortPointer(path);
    return {
      ...more,
      path: index === undefined ? at : `${at}/${index}`,
      message: `in the result, ${place} ${message}`,
    };
  });
}

/** Of a pointer that was cut, the tokens that are whole. */
function tokensOf(path: string): string[] {
  return parsePointer(path.endsWith('…') ? path.slice(0, path.lastIndexOf('/')) : path);
}
