import { DIFF_BUDGET, DIFF_OPERATION_COST, MAX_RECURSION } from '../limits';
import { align } from './align';
import { canonicalize } from './canonicalize';
import { Classes, TextClasses, type ValueClasses } from './classes';
import { formatPointer } from './pointer';
import { isJsonObject, isWithinDepth, type JsonObject, type JsonValue, sortKeys } from './value';

/** An operation of a diff: a JSON Patch operation (RFC 6902 section 4) of the kinds that need no other value's place. */
export type DiffOperation = { op: 'add' | 'replace'; path: string; value: JsonValue } | { op: 'remove'; path: string };

/**
 * The JSON Patch (RFC 6902) that turns `from` into `to` exactly. The same two values give the same operations: keys are
 * visited in the order of their UTF-16 code units. An element inserted into an array is one `add`, one taken out is one
 * `remove`, and one changed where it stands is described inside, unless to replace it is shorter. The values in the
 * result are those of `to`, not copies.
 *
 * With |x| for the bytes of x as JSON text, an operation costs |value| + 2 |path| + 256. Operations that would cost more
 * than `budget` together are coarser: each place is described inside or replaced whole, whichever costs less, so that
 * they cost max(`budget`, |to| + 256) at most. With n values in both documents together, members and elements are looked at
 * 48 n times at most, whatever the shape; memory is in proportion to n and `budget`.
 * Documents that are nested more than 640 deep are replaced whole.
 */
export function diff(from: JsonValue, to: JsonValue, budget = DIFF_BUDGET): DiffOperation[] {
  return diffBy(new Classes(), from, to, (change) => {
    const prices = new Prices();
    return prices.of(change, 0) <= budget ? change : prices.cheapest(change, 0).change;
  });
}

/** As {@link diff}, without a budget, in as little code as a browser may be asked to load: for documents that one trusts. */
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

/** What becomes of a place, which `token` names in the value around it. */
type Change = Operation | Inside;
/** The place comes or becomes another value, `to`, or goes. */
interface Operation {
  op: DiffOperation['op'];
  token: string | number;
  to: JsonValue;
}
/** The place stays, and becomes `to` by what changes inside. */
interface Inside {
  op: 'inside';
  token: string | number;
  to: JsonValue;
  changes: Change[];
  /** How many operations that makes. */
  count: number;
  /** What they are to a reader, once it was asked for. */
  weight: number | undefined;
}

/** What an operation is to a reader beside its value, counted in values. */
const OPERATION_WEIGHT = 2;

/** Finds what changed. Pointers are not written here: the way from the root may be long, and shared by thousands of changes. */
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

  /** An element that became another one reads better as one replacement than as a list of changes inside. */
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

  /** How many values there are in a value, itself included. */
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

/** Prices of changes in bytes, as {@link diff} says. `at` is what the pointer of the place takes. */
class Prices {
  readonly #sizes = new Map<JsonValue, number>();

  of(change: Change, at: number): number {
    if (change.op !== 'inside') return this.#ofOperation(change.op === 'remove' ? 0 : this.#size(change.to), at);
    return sum(change.changes, (one) => this.of(one, at + tokenSize(one.token)));
  }

  /** The change with each place in it described inside or replaced whole, whichever costs less. */
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

  /** The bytes of a value as JSON text. */
  #size(value: JsonValue): number {
    if (value === null || typeof value !== 'object') return textSize(value);
    let size = this.#sizes.get(value);
    if (size !== undefined) return size;
    if (Array.isArray(value)) {
      size = 1 + sum(value, (element) => 1 + this.#size(element));
    } else {
      size = 1 + sum(Object.keys(value), (key) => 2 + textSize(key) + this.#size(value[key]!));
    }
    // An empty one has no comma less.
    size = Math.max(size, 2);
    this.#sizes.set(value, size);
    return size;
  }
}

/** What JSON writes as it is, in a byte a character. */
const PLAIN = /^[ !#-[\]-~]*$/;

function textSize(value: null | boolean | number | string): number {
  if (typeof value !== 'string') return String(value).length;
  return PLAIN.test(value) ? value.length + 2 : utf8Size(JSON.stringify(value));
}

/** The bytes of a text in UTF-8: the platform's own counter is not the same in browsers and in Node. */
function utf8Size(text: string): number {
  let size = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    size += code < 0x800 ? 1 : 2;
    // Both halves of a pair: four bytes, of which the two units count two already.
    if (code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) at++;
  }
  return size;
}

/** The bytes that a token adds to a pointer. */
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
