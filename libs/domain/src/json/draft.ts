import type { PatchLimits } from '../limits';
import { jsonEquals } from './equals';
import {
  arrayIndex,
  formatPointer,
  getAt,
  getMember,
  isPointer,
  parsePointer,
  setMember,
  shortPointer,
} from './pointer';
import { isWithinDepth, type JsonObject, type JsonValue } from './value';

/** One operation of a JSON Patch (RFC 6902 section 4). `path` and `from` are JSON Pointers. */
export type PatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: JsonValue }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; from: string; path: string };

/** The reason why an operation fails. */
export class PatchFault extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A recorded change: the value at `tokens` was added, removed or replaced, in an array or in an object. */
interface Change {
  kind: 'add' | 'remove' | 'replace';
  tokens: readonly string[];
  isElement: boolean;
  operation: number;
}

/**
 * A document that is being patched. An array or object is copied before its first change, and later changed in place.
 */
export class PatchedDocument {
  private readonly owned = new Set<JsonValue>();
  /** Arrays and objects that an operation put in their place. */
  private readonly placed = new Set<JsonValue>();
  private readonly changes: Change[] = [];
  private operation = 0;
  private copied = 0;
  private shifted = 0;
  private hasDeepened = false;

  constructor(
    public root: JsonValue,
    private readonly limits: PatchLimits,
  ) {}

  /**
   * Applies an operation. Throws {@link PatchFault}; the draft cannot be used afterwards. {@link operationBehind}
   * returns `index` for this operation.
   */
  apply(operation: PatchOperation, index: number): void {
    this.operation = index;
    const tokens = pointer(operation.path, 'path');
    switch (operation.op) {
      case 'add':
        this.requireDepth(operation.value, tokens);
        return this.add(tokens, operation.value);
      case 'remove':
        return this.remove(tokens, 'path');
      case 'replace':
        this.requireDepth(operation.value, tokens);
        return this.replace(tokens, operation.value);
      case 'move':
        return this.move(pointer(operation.from, 'from'), tokens, operation);
      case 'copy': {
        const value = this.get(pointer(operation.from, 'from'), 'from');
        return this.add(tokens, this.copy(value, tokens, this.limits.maxDepth - tokens.length));
      }
      case 'test': {
        const value = getAt(this.root, tokens);
        if (value === undefined) throw new PatchFault('test_failed', 'there is no value to test.');
        if (!jsonEquals(value, operation.value)) throw new PatchFault('test_failed', 'the value is different.');
      }
    }
  }

  /**
   * Returns the place at which a moved value is nested too deeply, or undefined if there is none. Values that the patch
   * did not move are not checked: an existing document may be deeper than today's limit.
   */
  placeTooDeep(): string[] | undefined {
    // The depth of an added or copied value was checked already. It can change only by a move.
    return this.hasDeepened ? this.tooDeepBelow(this.root, [], false) : undefined;
  }

  tooDeep(place: readonly string[]): PatchFault {
    const where = shortPointer(formatPointer(place));
    return new PatchFault(
      'too_deep',
      `arrays and objects would be nested more than ${this.limits.maxDepth} levels deep at "${where}".`,
    );
  }

  /**
   * Returns the last operation that changed the value at a place, a value that contains it, or a value inside it;
   * undefined if there is none. Follows the changes backwards and tracks the position of the place before each change.
   */
  operationBehind(place: readonly string[]): number | undefined {
    const tokens = [...place];
    for (let at = this.changes.length - 1; at >= 0; at--) {
      const change = this.changes[at]!;
      const last = change.tokens.length - 1;
      const shared = Math.min(last, tokens.length);
      if (!isSamePrefix(change.tokens, tokens, shared)) continue;
      if (shared < last || last === -1 || tokens.length === last) return change.operation;
      const [changed, here] = [change.tokens[last]!, tokens[last]!];
      if (change.isElement && change.kind !== 'replace') {
        const [changedIndex, index] = [Number(changed), Number(here)];
        if (change.kind === 'remove' && index >= changedIndex) tokens[last] = String(index + 1);
        if (change.kind === 'add' && index > changedIndex) tokens[last] = String(index - 1);
        if (change.kind === 'remove' || index !== changedIndex) continue;
      } else if (changed !== here) {
        continue;
      }
      return change.operation;
    }
    return undefined;
  }

  private get(tokens: readonly string[], name: 'path' | 'from'): JsonValue {
    const value = getAt(this.root, tokens);
    if (value === undefined) throw missing(name);
    return value;
  }

  private add(tokens: readonly string[], value: JsonValue): void {
    const last = tokens.at(-1);
    this.place(value);
    if (last === undefined) return this.replaceRoot(value);
    const parent = this.ownParent(tokens);
    if (Array.isArray(parent)) {
      const index = last === '-' ? parent.length : arrayIndex(last, parent.length + 1);
      if (index < 0)
        throw new PatchFault('index_out_of_range', `"path" does not end in an index from 0 to ${parent.length}.`);
      this.shift(parent.length - index);
      parent.splice(index, 0, value);
      this.note('add', tokens.with(-1, String(index)), true);
    } else {
      setMember(parent, last, value);
      this.note('add', tokens, false);
    }
  }

  private remove(tokens: readonly string[], name: 'path' | 'from'): void {
    const last = tokens.at(-1);
    if (last === undefined) throw new PatchFault('root_removed', 'the whole document cannot be removed.');
    this.get(tokens, name);
    const parent = this.ownParent(tokens);
    if (Array.isArray(parent)) {
      this.shift(parent.length - Number(last));
      parent.splice(Number(last), 1);
    } else {
      delete parent[last];
    }
    this.note('remove', tokens, Array.isArray(parent));
  }

  private replace(tokens: readonly string[], value: JsonValue): void {
    const last = tokens.at(-1);
    this.place(value);
    if (last === undefined) return this.replaceRoot(value);
    this.get(tokens, 'path');
    const parent = this.ownParent(tokens);
    setChild(parent, last, value);
    this.note('replace', tokens, Array.isArray(parent));
  }

  private replaceRoot(value: JsonValue): void {
    this.root = value;
    this.note('replace', [], false);
  }

  private move(from: readonly string[], tokens: readonly string[], names: { from: string; path: string }): void {
    const value = this.get(from, 'from');
    if (names.path === names.from) return;
    if (names.path.startsWith(names.from + '/')) {
      throw new PatchFault('invalid_move', 'a value cannot be moved into itself.');
    }
    if (tokens.length > from.length) {
      this.hasDeepened = true;
      // The content is checked once, in the result.
      this.requireDepth(isContainer(value) ? [] : value, tokens);
    }
    this.remove(from, 'from');
    this.add(tokens, value);
  }

  /**
   * Returns the array or object that contains the place, after copying it and its ancestors if they are still shared.
   */
  private ownParent(tokens: readonly string[]): JsonValue[] | JsonObject {
    let parent = (this.root = this.own(this.root));
    for (const token of tokens.slice(0, -1)) {
      const value = getMember(parent, token);
      if (value === undefined) throw missing('path');
      const child = this.own(value);
      if (child !== value) setChild(parent, token, child);
      parent = child;
    }
    return parent;
  }

  private own(value: JsonValue): JsonValue[] | JsonObject {
    if (!isContainer(value)) throw missing('path');
    if (this.owned.has(value)) return value;
    const own = Array.isArray(value) ? value.slice() : copyMembers(value, (member) => member);
    this.owned.add(own);
    if (this.placed.has(value)) this.placed.add(own);
    return own;
  }

  private place(value: JsonValue): void {
    if (isContainer(value)) this.placed.add(value);
  }

  /** Returns a copy that shares nothing with the original that a later operation could change in place. */
  private copy(value: JsonValue, tokens: readonly string[], levels: number): JsonValue {
    this.countCopied(typeof value === 'string' ? 1 + value.length : 1);
    if (!isContainer(value)) return value;
    if (levels <= 0) throw this.tooDeep(tokens);
    if (Array.isArray(value)) return value.map((element) => this.copy(element, tokens, levels - 1));
    return copyMembers(value, (member, key) => {
      this.countCopied(key.length);
      return this.copy(member, tokens, levels - 1);
    });
  }

  private countCopied(size: number): void {
    const { maxCopied } = this.limits;
    this.copied += size;
    if (this.copied <= maxCopied) return;
    const message = `the copy operations of this patch copy more than ${maxCopied} values and characters: send fewer.`;
    throw new PatchFault('too_large', message);
  }

  private shift(elements: number): void {
    const { maxShifted } = this.limits;
    this.shifted += elements;
    if (this.shifted <= maxShifted) return;
    const message = `the operations of this patch shift array elements more than ${maxShifted} times: replace the whole array.`;
    throw new PatchFault('too_large', message);
  }

  private requireDepth(value: JsonValue, tokens: readonly string[]): void {
    if (!isWithinDepth(value, this.limits.maxDepth - tokens.length)) throw this.tooDeep(tokens);
  }

  private tooDeepBelow(value: JsonValue, place: string[], isAroundPlaced: boolean): string[] | undefined {
    if (!isContainer(value)) return undefined;
    const isPlaced = isAroundPlaced || this.placed.has(value);
    if (!isPlaced && !this.owned.has(value)) return undefined;
    if (place.length >= this.limits.maxDepth) return isPlaced ? place : undefined;
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    const children = Array.isArray(value) ? value : Object.values(value);
    for (let at = 0; at < children.length; at++) {
      place.push(keys?.[at] ?? String(at));
      const found = this.tooDeepBelow(children[at]!, place, isPlaced);
      if (found !== undefined) return found;
      place.pop();
    }
    return undefined;
  }

  private note(kind: Change['kind'], tokens: readonly string[], isElement: boolean): void {
    this.changes.push({ kind, tokens, isElement, operation: this.operation });
  }
}

function isContainer(value: JsonValue): value is JsonValue[] | JsonObject {
  return value !== null && typeof value === 'object';
}

function setChild(parent: JsonValue[] | JsonObject, token: string, value: JsonValue): void {
  if (Array.isArray(parent)) parent[Number(token)] = value;
  else setMember(parent, token, value);
}

/** Copies each member, because a spread of `{"1000":0}` allocates room for 1,500 elements: see `setMember`. */
function copyMembers(object: JsonObject, copy: (member: JsonValue, key: string) => JsonValue): JsonObject {
  const members: JsonObject = {};
  for (const key of Object.keys(object)) setMember(members, key, copy(object[key]!, key));
  return members;
}

function isSamePrefix(a: readonly string[], b: readonly string[], length: number): boolean {
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return false;
  return true;
}

function pointer(text: string, name: 'path' | 'from'): string[] {
  if (!isPointer(text)) throw new PatchFault('invalid_pointer', `"${name}" is not a JSON Pointer (RFC 6901).`);
  return parsePointer(text);
}

function missing(name: 'path' | 'from'): PatchFault {
  return new PatchFault('path_not_found', `"${name}" does not exist in the document at that point.`);
}
