import { DomainError, type ErrorDetail } from '../errors';
import { DEFAULT_MAX_DEPTH } from './parse';
import { arrayIndex, getAt, getMember, isPointer, parsePointer, setMember } from './pointer';
import { isJsonObject, type JsonObject, type JsonValue } from './value';

/** One operation of a JSON Patch (RFC 6902 section 4); `path` and `from` are JSON Pointers. */
export type PatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: JsonValue }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; from: string; path: string };

/** What a patch may do to the size of the result. */
export interface PatchLimits {
  /** How many arrays and objects may lie inside one another where the patch puts something. */
  maxDepth: number;
  /** How much all `copy` operations together may copy: one for each value, and one for each character of keys and strings. */
  maxCopied: number;
}

/** `maxCopied`: copies may add about as much as the largest request body (1 MiB) holds. */
export const DEFAULT_PATCH_LIMITS: PatchLimits = { maxDepth: DEFAULT_MAX_DEPTH, maxCopied: 1_048_576 };

const OPS: readonly PatchOperation['op'][] = ['add', 'remove', 'replace', 'move', 'copy', 'test'];

/**
 * Reads a JSON Patch document (RFC 6902 sections 3 and 4) out of a request body. Members that RFC 6902 does not define
 * are left out of the result. `options.at` is the JSON Pointer of the patch in the body; `options.allowedOps` narrows the
 * six operations.
 *
 * Throws `DomainError('validation_error')` with a detail for every problem, at paths like `/patch_ops/3/op`.
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
    const message = `At most ${maxOperations} operations are accepted in one patch; this one has ${value.length}.`;
    details.push({ path: at, message, code: 'too_many_operations' });
  } else {
    value.forEach((item, index) => {
      const operation = parseOperation(item, `${at}/${index}`, allowedOps, details);
      if (operation) operations.push(operation);
    });
  }
  if (details.length > 0) throw new DomainError('validation_error', 'The patch is not valid: see details.', details);
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
 *
 * Throws `DomainError('validation_error')` at the first operation that fails, or that passes `limits`, with one detail at
 * `at` + `/` + its index (code `test_failed` for a `test`). Then nothing has happened.
 */
export function applyPatch(
  document: JsonValue,
  operations: readonly PatchOperation[],
  at = '',
  limits: PatchLimits = DEFAULT_PATCH_LIMITS,
): JsonValue {
  const draft = new Draft(document, limits);
  let deepening = -1;
  operations.forEach((operation, index) => {
    failAt(at, index, operation, () => draft.apply(operation));
    if (operation.op === 'move' && operation.path.length > operation.from.length) deepening = index;
  });
  // A moved value is as deep as it is, so the result is looked at: once, whatever the number of moves.
  const last = operations[deepening];
  if (last) failAt(at, deepening, last, () => requireDepth(draft.root, limits.maxDepth));
  return draft.root;
}

function failAt(at: string, index: number, operation: PatchOperation, act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof PatchFault)) throw error;
    const path = operation.path.length > 200 ? `${operation.path.slice(0, 200)}…` : operation.path;
    const message = `Patch operation ${index} (${operation.op} "${path}") cannot be applied: ${error.message}`;
    throw new DomainError('validation_error', message, [{ path: `${at}/${index}`, message, code: error.code }]);
  }
}

class PatchFault extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A document under change: an array or object is copied before its first change, and changed in place from then on. */
class Draft {
  private readonly owned = new Set<JsonValue>();
  private copied = 0;

  constructor(
    public root: JsonValue,
    private readonly limits: PatchLimits,
  ) {}

  apply(operation: PatchOperation): void {
    const tokens = pointer(operation.path, 'path');
    switch (operation.op) {
      case 'add':
        requireDepth(operation.value, this.limits.maxDepth - tokens.length);
        return this.add(tokens, operation.value);
      case 'remove':
        return this.remove(tokens);
      case 'replace':
        requireDepth(operation.value, this.limits.maxDepth - tokens.length);
        return this.replace(tokens, operation.value);
      case 'move': {
        const from = pointer(operation.from, 'from');
        const value = this.get(from, 'from');
        if (operation.path === operation.from) return;
        if (operation.path.startsWith(operation.from + '/')) {
          throw new PatchFault('invalid_move', 'a value cannot be moved into itself.');
        }
        this.remove(from);
        return this.add(tokens, value);
      }
      case 'copy': {
        const value = this.get(pointer(operation.from, 'from'), 'from');
        requireDepth(value, this.limits.maxDepth - tokens.length);
        return this.add(tokens, this.copy(value));
      }
      case 'test': {
        const value = getAt(this.root, tokens);
        if (value === undefined) throw new PatchFault('test_failed', 'there is no value to test.');
        if (!jsonEquals(value, operation.value)) throw new PatchFault('test_failed', 'the value is another.');
      }
    }
  }

  private get(tokens: readonly string[], name: 'path' | 'from'): JsonValue {
    const value = getAt(this.root, tokens);
    if (value === undefined) throw missing(name);
    return value;
  }

  private add(tokens: readonly string[], value: JsonValue): void {
    const last = tokens.at(-1);
    if (last === undefined) {
      this.root = value;
      return;
    }
    const parent = this.ownParent(tokens);
    if (Array.isArray(parent)) {
      const index = last === '-' ? parent.length : arrayIndex(last, parent.length + 1);
      if (index < 0) throw new PatchFault('index_out_of_range', `"path" ends in no index from 0 to ${parent.length}.`);
      parent.splice(index, 0, value);
    } else {
      setMember(parent, last, value);
    }
  }

  private remove(tokens: readonly string[]): void {
    const last = tokens.at(-1);
    if (last === undefined) throw new PatchFault('root_removed', 'the whole document cannot be removed.');
    this.get(tokens, 'path');
    const parent = this.ownParent(tokens);
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
  }

  private replace(tokens: readonly string[], value: JsonValue): void {
    const last = tokens.at(-1);
    if (last === undefined) {
      this.root = value;
      return;
    }
    this.get(tokens, 'path');
    const parent = this.ownParent(tokens);
    if (Array.isArray(parent)) parent[Number(last)] = value;
    else setMember(parent, last, value);
  }

  /** The array or object that holds what `tokens` name, made safe to change together with all around it. */
  private ownParent(tokens: readonly string[]): JsonValue[] | JsonObject {
    let parent = (this.root = this.own(this.root));
    for (const token of tokens.slice(0, -1)) {
      const value = getMember(parent, token);
      if (value === undefined) throw missing('path');
      const child = this.own(value);
      if (child !== value) {
        if (Array.isArray(parent)) parent[Number(token)] = child;
        else setMember(parent, token, child);
      }
      parent = child;
    }
    return parent;
  }

  private own(value: JsonValue): JsonValue[] | JsonObject {
    if (value === null || typeof value !== 'object') throw missing('path');
    if (this.owned.has(value)) return value;
    const own = Array.isArray(value) ? value.slice() : { ...value };
    this.owned.add(own);
    return own;
  }

  /** A copy that shares nothing which later operations change in place. */
  private copy(value: JsonValue): JsonValue {
    this.countCopied(typeof value === 'string' ? 1 + value.length : 1);
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map((element) => this.copy(element));
    const copy: JsonObject = {};
    for (const [key, member] of Object.entries(value)) {
      this.countCopied(key.length);
      setMember(copy, key, this.copy(member));
    }
    return copy;
  }

  private countCopied(size: number): void {
    this.copied += size;
    if (this.copied > this.limits.maxCopied) {
      throw new PatchFault('too_large', 'the copy operations of this patch copy too much.');
    }
  }
}

function pointer(text: string, name: 'path' | 'from'): string[] {
  if (!isPointer(text)) throw new PatchFault('invalid_pointer', `"${name}" is not a JSON Pointer (RFC 6901).`);
  return parsePointer(text);
}

function missing(name: 'path' | 'from'): PatchFault {
  return new PatchFault('path_not_found', `"${name}" names nothing in the document at that point.`);
}

function requireDepth(value: JsonValue, maxDepth: number): void {
  if (!isWithinDepth(value, maxDepth)) {
    throw new PatchFault('too_deep', 'arrays and objects would be nested too deep.');
  }
}

function isWithinDepth(value: JsonValue, maxDepth: number): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (maxDepth <= 0) return false;
  const children = Array.isArray(value) ? value : Object.values(value);
  return children.every((child) => isWithinDepth(child, maxDepth - 1));
}

/**
 * Whether two JSON values are equal as RFC 6902 section 4.6 has it: numbers by value, arrays element by element, objects
 * by their own members in any order.
 */
export function jsonEquals(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let at = 0; at < a.length; at++) if (!jsonEquals(a[at]!, b[at]!)) return false;
    return true;
  }
  const keys = Object.keys(a);
  const others = Object.keys(b);
  if (keys.length !== others.length) return false;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at]!;
    if (key !== others[at] && !Object.hasOwn(b, key)) return false;
    if (!jsonEquals(a[key]!, b[key]!)) return false;
  }
  return true;
}
