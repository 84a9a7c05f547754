import { DomainError, type ErrorDetail } from '../errors';
import { DEFAULT_PATCH_LIMITS, MAX_PROBLEMS, type PatchLimits } from '../limits';
import { PatchedDocument, PatchFault, type PatchOperation } from './draft';
import { getMember, isPointer, parsePointer, shortPointer } from './pointer';
import { isJsonObject, type JsonObject, type JsonValue } from './value';

export type { PatchOperation } from './draft';

const OPS: readonly PatchOperation['op'][] = ['add', 'remove', 'replace', 'move', 'copy', 'test'];

/**
 * Reads a JSON Patch document (RFC 6902 sections 3 and 4) from a request body. Members that RFC 6902 does not define
 * are dropped. `options.at` is the JSON Pointer of the patch in the body, and `options.allowedOps` restricts the
 * operations.
 *
 * Throws `DomainError('validation_error')` with a detail for each of the first 100 problems, at paths such as
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
 * Applies all operations in order (RFC 6902 sections 4 and 5) and returns the resulting document. Reads and changes own
 * members only. Neither `document` nor `operations` is changed, but the result shares unchanged parts with them. Time
 * and memory are proportional to the document, the operations and `limits.maxCopied`, and time also to
 * `limits.maxShifted`.
 *
 * Throws `DomainError('validation_error')` for the first operation that fails or exceeds `limits`. The only detail is
 * at `at` + `/` + its index; its code is `test_failed` for a `test`. If a moved value is nested too deeply in the
 * result, the detail names the operation that put it there.
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
): PatchedDocument {
  const draft = new PatchedDocument(document, { ...DEFAULT_PATCH_LIMITS, ...limits });
  operations.forEach((operation, index) => {
    try {
      draft.apply(operation, index);
    } catch (error) {
      throw asFailureOf(error, operation, `${at}/${index}`, index);
    }
  });
  const tooDeep = draft.placeTooDeep();
  if (tooDeep !== undefined) {
    // A value that is too deep was put there by an operation.
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
 * Attributes problems in a patch's result to the operations of the patch. `path` becomes that of the last operation
 * (`/patch_ops/3`) that changed the place, a value that contains it, or a value inside it. The message names the place
 * in the result. If no operation is responsible, `path` becomes `at`.
 *
 * @param problems with JSON Pointers into the result of applying `operations` to `document`. The patch must succeed.
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

/** Returns the tokens of a pointer; if the pointer was cut, only the complete tokens. */
function tokensOf(path: string): string[] {
  return parsePointer(path.endsWith('…') ? path.slice(0, path.lastIndexOf('/')) : path);
}
