import {
  applyPatch,
  Classes,
  diff,
  DomainError,
  followAttribution,
  formatPointer,
  getAt,
  isJsonObject,
  jsonEquals,
  type JsonObject,
  type JsonValue,
  parseJsonText,
  parsePatch,
  parsePointer,
  type PatchOperation,
  PROTECTED_ROOTS,
  setMember,
} from '@iss/domain/pure';
import { TEXT } from '../words.ts';

export type { JsonObject, JsonValue, PatchOperation };
export type Tokens = readonly string[];

/** The default depth limit of the service. */
const MAX_DEPTH = 512;
const MAX_OPERATIONS = 100_000;

/** Returns the members of an envelope that a proposal may change. */
export function contentOf(envelope: unknown): JsonObject {
  if (!isJsonObject(envelope)) return {};
  return Object.fromEntries(Object.entries(envelope).filter(([root]) => !PROTECTED_ROOTS.includes(root)));
}

/** Parses typed content. @throws Error with the fault and its place */
export function contentFrom(text: string): JsonObject {
  const content = parseJsonText(text, { maxDepth: MAX_DEPTH });
  if (!isJsonObject(content)) throw new Error('The content must be an object: {…}');
  const root = PROTECTED_ROOTS.find((name) => Object.hasOwn(content, name));
  if (root !== undefined) throw new Error(`Only the service sets ${root}. Remove it.`);
  return content;
}

/** Returns a typed draft whose attribution follows moved list elements. */
export function moveAttribution(base: JsonObject, content: JsonObject): JsonObject {
  return followAttribution(base, content, new Classes()).draft;
}

/** Parses the operations of an API response. @throws Error if they are not a patch */
export function operationsOf(operations: unknown): PatchOperation[] {
  const read = parseJsonText(JSON.stringify(operations), { maxDepth: MAX_DEPTH });
  return parsePatch(read, { at: '', maxOperations: MAX_OPERATIONS });
}

/** @throws Error if an operation does not fit */
export function applyOperations(content: JsonObject, operations: readonly PatchOperation[]): JsonObject {
  const result = applyPatch(content, operations);
  if (isJsonObject(result)) return result;
  throw new Error('The patch replaces the whole content.');
}

/** Returns a copy with a value at a place whose parent exists. */
export function withValue(root: JsonObject, tokens: Tokens, value: JsonValue): JsonObject {
  return copied(root, tokens, (parent, last) => {
    if (Array.isArray(parent)) parent[Number(last)] = value;
    else setMember(parent, last, value);
  });
}

/** Returns a copy without a place and its attribution. Later elements of a list move up. */
export function removePlace(root: JsonObject, tokens: Tokens): JsonObject {
  let isElement = false;
  const copy = copied(root, tokens, (parent, last) => {
    isElement = Array.isArray(parent);
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
  });
  const paths = attributionOf(copy);
  if (tokens[0] === 'attribute_paths' || Object.keys(paths).length === 0) return copy;
  const parent = formatPointer(tokens.slice(0, -1));
  const index = Number(tokens.at(-1));
  const kept: JsonObject = {};
  for (const [path, references] of Object.entries(paths)) {
    if (isAtOrBelow(path, formatPointer(tokens))) continue;
    setMember(kept, isElement ? movedUp(path, parent, index) : path, references);
  }
  return { ...copy, attribute_paths: kept };
}

function movedUp(path: string, parent: string, removed: number): string {
  if (!path.startsWith(`${parent}/`)) return path;
  const [token = '', ...rest] = path.slice(parent.length + 1).split('/');
  const index = Number(token);
  return index > removed ? [parent, index - 1, ...rest].join('/') : path;
}

function copied(
  root: JsonObject,
  tokens: Tokens,
  change: (parent: JsonObject | JsonValue[], last: string) => void,
): JsonObject {
  const copy = { ...root };
  let parent: JsonObject | JsonValue[] = copy;
  for (const token of tokens.slice(0, -1)) {
    const child = getAt(parent, [token]);
    if (child === null || typeof child !== 'object') return root;
    const childCopy: JsonObject | JsonValue[] = Array.isArray(child) ? [...child] : { ...child };
    if (Array.isArray(parent)) parent[Number(token)] = childCopy;
    else setMember(parent, token, childCopy);
    parent = childCopy;
  }
  const last = tokens.at(-1);
  if (last !== undefined) change(parent, last);
  return copy;
}

export function isAtOrBelow(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

export function valueAt(content: JsonValue, pointer: string): JsonValue | undefined {
  try {
    return getAt(content, parsePointer(pointer));
  } catch {
    return undefined;
  }
}

export function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one === other || jsonEquals(one, other);
}

/** Returns the attribution of a content. */
export function attributionOf(content: JsonObject): JsonObject {
  const { attribute_paths: paths } = content;
  return isJsonObject(paths) ? paths : {};
}

/** Counts the leaves of a tree, up to `enough`. */
export function countLeaves(value: JsonValue, enough: number): number {
  if (value === null || typeof value !== 'object') return 1;
  let sum = 0;
  for (const child of Object.values(value)) {
    sum += countLeaves(child, enough - sum);
    if (sum >= enough) return sum;
  }
  return Math.max(1, sum);
}

/** Returns the pointers of the leaves of attributes, at most `most`. */
export function leafPointersOf(content: JsonObject, most: number): string[] {
  const found: string[] = [];
  const visit = (value: JsonValue, pointer: string): void => {
    if (found.length >= most) return;
    const children = value !== null && typeof value === 'object' ? Object.entries(value) : [];
    if (children.length === 0) found.push(pointer);
    for (const [token, child] of children) visit(child, pointer + formatPointer([token]));
  };
  for (const [token, child] of Object.entries(content['attributes'] ?? {}))
    visit(child, formatPointer(['attributes', token]));
  return found;
}

export interface DraftStep {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

type Patch = ReturnType<typeof diff>;
/** The latest patch to each content, since many parts of a view need the same one. */
const patches = new WeakMap<JsonObject, { readonly from: JsonObject; readonly patch: Patch }>();

export function draftPatch(from: JsonObject, to: JsonObject): Patch {
  const known = patches.get(to);
  if (known?.from === from) return known.patch;
  const patch = from === to ? [] : diff(from, to);
  keepPatch(from, to, patch);
  return patch;
}

/** Stores a patch that was computed elsewhere. */
export function keepPatch(from: JsonObject, to: JsonObject, patch: Patch): void {
  patches.set(to, { from, patch });
}

/** Returns the changed places with their previous values, at most `most`. */
export function stepsOf(from: JsonObject, to: JsonObject, most: number): { steps: DraftStep[]; more: number } {
  const operations = draftPatch(from, to);
  let document: JsonValue = from;
  const steps = operations.slice(0, most).map((operation): DraftStep => {
    const { op, path } = operation;
    const before = op === 'add' ? undefined : valueAt(document, path);
    document = applyPatch(document, [operation]);
    return { op, path, before, after: operation.op === 'remove' ? undefined : operation.value };
  });
  return { steps, more: operations.length - steps.length };
}

/** A change of a draft that does not fit a newer version. */
export interface LeftOver {
  readonly path: string;
  readonly message: string;
}

export interface CarriedOver {
  readonly content: JsonObject;
  readonly left: readonly LeftOver[];
  /** Places that both changed. The draft's value is kept. */
  readonly both: readonly string[];
}

/** Returns whether two changes of a place conflict. Additions of evidence do not. */
export function isOfItsOwn(path: string): boolean {
  return !isAtOrBelow(path, '/evidence') && !isAtOrBelow(path, '/attribute_paths');
}

/** Applies the changes of a draft to a newer version than its base. */
export function carriedOver(base: JsonObject, draft: JsonObject, head: JsonObject): CarriedOver {
  const changes = diff(base, head);
  const since = changes.map(({ path }) => path);
  const shifted = changes.flatMap(({ op, path }) => {
    const parent = path.slice(0, path.lastIndexOf('/'));
    return op !== 'replace' && Array.isArray(valueAt(base, parent)) ? [`${parent}/`] : [];
  });
  const left: LeftOver[] = [];
  const both: string[] = [];
  let content = head;
  for (const operation of diff(base, draft)) {
    const { path } = operation;
    // The index can name another element now, also in attribute_paths.
    const place = parsePointer(path).find((token) => token.startsWith('/attributes')) ?? path;
    if (shifted.some((list) => place.startsWith(list))) {
      const added = isAtEnd(base, path) ? appendedTo(content, operation) : null;
      if (added === null) left.push({ path, message: TEXT.listChanged });
      content = added ?? content;
      continue;
    }
    try {
      content = applyOperations(content, [operation]);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const appended = appendedTo(content, operation);
      if (appended === null) {
        left.push({ path, message: error.details?.[0]?.message ?? error.message });
        continue;
      }
      content = appended;
    }
    if (isOfItsOwn(path) && since.some((other) => isAtOrBelow(other, path) || isAtOrBelow(path, other)))
      both.push(path);
  }
  return { content, left, both };
}

function isAtEnd(content: JsonObject, path: string): boolean {
  const at = path.lastIndexOf('/');
  const list = valueAt(content, path.slice(0, at));
  return Array.isArray(list) && Number(path.slice(at + 1)) >= list.length;
}

/** Appends an element whose index is beyond the end of a list that is now shorter. */
function appendedTo(content: JsonObject, operation: ReturnType<typeof diff>[number]): JsonObject | null {
  const parent = operation.path.slice(0, operation.path.lastIndexOf('/'));
  if (operation.op !== 'add' || !Array.isArray(valueAt(content, parent))) return null;
  return applyOperations(content, [{ ...operation, path: `${parent}/-` }]);
}
