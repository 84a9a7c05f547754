import { DIFF_BUDGET, DIFF_OPERATION_COST, MAX_RECURSION } from '../limits';
import { align } from './align';
import { canonicalize } from './canonicalize';
import { Classes, TextClasses, type ValueClasses } from './classes';
import { formatPointer } from './pointer';
import { isJsonObject, isWithinDepth, type JsonObject, type JsonValue, sortKeys } from './value';

/** A JSON Patch operation (RFC 6902 section 4) of a kind that a diff uses. */
export type DiffOperation = { op: 'add' | 'replace'; path: string; value: JsonValue } | { op: 'remove'; path: string };

/**
 * Computes the JSON Patch (RFC 6902) that turns `from` into `to` exactly. The same values always give the same
 * operations: keys are visited in the order of their UTF-16 code units. An inserted array element is one `add`, and a
 * removed one is one `remove`. An element that changed in place is described by operations inside it, unless replacing
 * it is shorter. Values in the result are those of `to`, not copies.
 *
 * With |x| for the bytes of x as JSON text, an operation costs |value| + 2 |path| + 256. If all operations together
 * would cost more than `budget`, each place gets the cheaper of two forms: operations inside it, or its replacement.
 * The patch then costs at most max(`budget`, |to| + 256).
 *
 * With n values in both documents, at most 48 n members and elements are read, whatever the shape. Memory is
 * proportional to n and `budget`. Documents that are nested more than 640 levels deep are replaced as a whole.
 */
export function diff(from: JsonValue, to: JsonValue, budget = DIFF_BUDGET): DiffOperation[] {
  return diffBy(new Classes(), from, to, (change) => {
    const prices = new Prices();
    return prices.of(change, 0) <= budget ? change : prices.cheapest(change, 0).change;
  });
}

/**
 * Does the same as {@link diff} without a budget, in as little code as possible for browsers. For trusted documents
 * only.
 */
export function plainDiff(from: JsonValue, to: JsonValue): DiffOperation[] {
  return diffBy(new TextClasses(), from, to, (change) => change);
}

function diffBy(
  classes: ValueClasses,
  from: JsonValue,
  to: JsonValue,
  shortened: (change: Change) => Change,
): DiffOperation[] {
  if (!isWithinDepth(from, MAX_RECURSION) || !isWithinDepth(to, MAX_RECURSION)) {
    return canonicalize(from) === canonicalize(to) ? [] : [{ op: 'replace', path: '', value: to }];
  }
  const change = new Differ(classes).between(from, to, '');
  const operations: DiffOperation[] = [];
  if (change !== undefined) write(shortened(change), '', operations);
  return operations;
}

/** The change at a place. `token` is its reference token in the enclosing value. */
type Change = Operation | Inside;
/** The place is added, removed or replaced by `to`. */
interface Operation {
  op: DiffOperation['op'];
  token: string | number;
  to: JsonValue;
}
/** The place becomes `to` by changes inside it. */
interface Inside {
  op: 'inside';
  token: string | number;
  to: JsonValue;
  changes: Change[];
  /** The number of operations. */
  count: number;
  /** The weight of the changes for a reader, once it has been computed. */
  weight: number | undefined;
}

/** The weight of an operation for a reader besides its value, counted in values. */
const OPERATION_WEIGHT = 2;

/** Finds the changes. Does not write pointers, because thousands of changes may share a long path. */
class Differ {
  readonly #sizes = new Map<JsonValue, number>();
  #arraysAround = 0;

  constructor(private readonly classes: ValueClasses) {}

  between(from: JsonValue, to: JsonValue, token: string | number): Change | undefined {
    if (from === to) return undefined;
    if (Array.isArray(from) && Array.isArray(to)) return inside(token, to, this.#arrays(from, to));
    if (isJsonObject(from) && isJsonObject(to)) return inside(token, to, this.#objects(from, to));
    return { op: 'replace', token, to };
  }

  #objects(from: JsonObject, to: JsonObject): Change[] {
    const changes: Change[] = [];
    let fromKeys = Object.keys(from);
    let toKeys = Object.keys(to);
    if (isSameList(fromKeys, toKeys)) {
      fromKeys = fromKeys.filter((key) => from[key] !== to[key]);
      toKeys = fromKeys;
    }
    sortKeys(fromKeys);
    sortKeys(toKeys);
    for (let fromAt = 0, toAt = 0; fromAt < fromKeys.length || toAt < toKeys.length;) {
      const before = fromKeys[fromAt];
      const after = toKeys[toAt];
      if (before !== undefined && before === after) {
        const change = this.between(from[before]!, to[before]!, before);
        if (change) changes.push(change);
        fromAt++;
        toAt++;
      } else if (after === undefined || (before !== undefined && before < after)) {
        changes.push({ op: 'remove', token: before!, to: null });
        fromAt++;
      } else {
        changes.push({ op: 'add', token: after, to: to[after]! });
        toAt++;
      }
    }
    return changes;
  }

  #arrays(from: JsonValue[], to: JsonValue[]): Change[] {
    this.#arraysAround++;
    const { stays, was, isSame } = align(from, to, this.#arraysAround, this.classes);
    const changes: Change[] = [];
    let fromAt = 0;
    to.forEach((element, token) => {
      const index = stays[token]!;
      if (index < 0) changes.push({ op: 'add', token, to: element });
      for (; fromAt < index; fromAt++) changes.push({ op: 'remove', token, to: null });
      if (index < 0) return;
      fromAt++;
      if (isSame[token] && was[token] === index) return;
      const change = this.#elements(from[index]!, element, token);
      if (change) changes.push(change);
    });
    for (; fromAt < from.length; fromAt++) changes.push({ op: 'remove', token: to.length, to: null });
    this.#arraysAround--;
    return changes;
  }

  /** Replaces an element if this reads better than a list of changes inside it. */
  #elements(from: JsonValue, to: JsonValue, token: number): Change | undefined {
    const change = this.between(from, to, token);
    if (change?.op !== 'inside' || change.count === 1) return change;
    return OPERATION_WEIGHT + this.#size(to) < this.#weight(change) ? { op: 'replace', token, to } : change;
  }

  #weight(change: Change): number {
    switch (change.op) {
      case 'remove':
        return OPERATION_WEIGHT;
      case 'add':
      case 'replace':
        return OPERATION_WEIGHT + this.#size(change.to);
      case 'inside':
        return (change.weight ??= sum(change.changes, (one) => this.#weight(one)));
    }
  }

  /** Counts the values in a value, including itself. */
  #size(value: JsonValue): number {
    if (value === null || typeof value !== 'object') return 1;
    let size = this.#sizes.get(value);
    if (size === undefined) {
      size = 1 + sum(Array.isArray(value) ? value : Object.values(value), (child) => this.#size(child));
      this.#sizes.set(value, size);
    }
    return size;
  }
}

/** Computes the cost of changes in bytes, as defined in {@link diff}. `at` is the size of the pointer of the place. */
class Prices {
  readonly #sizes = new Map<JsonValue, number>();

  of(change: Change, at: number): number {
    if (change.op !== 'inside') return this.#ofOperation(change.op === 'remove' ? 0 : this.#size(change.to), at);
    return sum(change.changes, (one) => this.of(one, at + tokenSize(one.token)));
  }

  /** Returns the cheapest form of a change: each place in it is described inside or replaced as a whole. */
  cheapest(change: Change, at: number): { change: Change; price: number } {
    if (change.op !== 'inside') return { change, price: this.of(change, at) };
    const { token, to } = change;
    const parts = change.changes.map((one) => this.cheapest(one, at + tokenSize(one.token)));
    const described = sum(parts, ({ price }) => price);
    const replaced = this.#ofOperation(this.#size(to), at);
    if (replaced < described) return { change: { op: 'replace', token, to }, price: replaced };
    return { change: { ...change, changes: parts.map((part) => part.change) }, price: described };
  }

  #ofOperation(value: number, at: number): number {
    return value + 2 * at + DIFF_OPERATION_COST;
  }

  /** Returns the size of a value as JSON text, in bytes. */
  #size(value: JsonValue): number {
    if (value === null || typeof value !== 'object') return textSize(value);
    let size = this.#sizes.get(value);
    if (size !== undefined) return size;
    if (Array.isArray(value)) {
      size = 1 + sum(value, (element) => 1 + this.#size(element));
    } else {
      size = 1 + sum(Object.keys(value), (key) => 2 + textSize(key) + this.#size(value[key]!));
    }
    // An empty array or object has no comma to subtract.
    size = Math.max(size, 2);
    this.#sizes.set(value, size);
    return size;
  }
}

/** Strings that JSON writes unescaped, with one byte per character. */
const PLAIN = /^[ !#-[\]-~]*$/;

function textSize(value: null | boolean | number | string): number {
  if (typeof value !== 'string') return String(value).length;
  return PLAIN.test(value) ? value.length + 2 : utf8Size(JSON.stringify(value));
}

/** Returns the size of a text in UTF-8. The built-in counters of browsers and Node differ. */
function utf8Size(text: string): number {
  let size = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    size += code < 0x800 ? 1 : 2;
    // A surrogate pair takes four bytes. Its two code units already count two.
    if (code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) at++;
  }
  return size;
}

/** Returns the number of bytes that a token adds to a pointer. */
function tokenSize(token: string | number): number {
  return typeof token === 'number' ? 1 + String(token).length : textSize(formatPointer([token])) - 2;
}

function write(change: Change, path: string, operations: DiffOperation[]): void {
  switch (change.op) {
    case 'remove':
      operations.push({ op: 'remove', path });
      return;
    case 'add':
    case 'replace':
      operations.push({ op: change.op, path, value: change.to });
      return;
    case 'inside':
      for (const one of change.changes) write(one, path + formatPointer([one.token]), operations);
  }
}

function inside(token: string | number, to: JsonValue, changes: Change[]): Inside | undefined {
  if (changes.length === 0) return undefined;
  const count = sum(changes, (change) => (change.op === 'inside' ? change.count : 1));
  return { op: 'inside', token, to, changes, count, weight: undefined };
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  let total = 0;
  for (const item of items) total += of(item);
  return total;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
