import { jsonEquals } from './patch';
import { formatPointer } from './pointer';
import { isJsonObject, type JsonObject, type JsonValue } from './value';

/** An operation of a diff: a JSON Patch operation (RFC 6902 section 4) of the kinds that need no other value's place. */
export type DiffOperation = { op: 'add' | 'replace'; path: string; value: JsonValue } | { op: 'remove'; path: string };

/**
 * The JSON Patch (RFC 6902) that turns `from` into `to` exactly. The same two values give the same operations: keys are
 * visited in the order of their UTF-16 code units. An element inserted into an array is one `add`, one taken out is one
 * `remove`, and one changed where it stands is described inside, unless to replace it is shorter. The values in the
 * result are those of `to`, not copies.
 */
export function diff(from: JsonValue, to: JsonValue): DiffOperation[] {
  const differ = new Differ();
  differ.values(from, to, new Place(undefined, ''));
  return differ.operations;
}

/** A place in the document. Most are passed without a change, so a pointer is only written where one is named. */
class Place {
  private written: string | undefined;

  constructor(
    private readonly parent: Place | undefined,
    private readonly token: string | number,
  ) {}

  get pointer(): string {
    this.written ??= this.parent === undefined ? '' : this.parent.pointer + formatPointer([this.token]);
    return this.written;
  }
}

/**
 * A step from left to right through two arrays: an element is the same in both; one stays, changed or not; one of the
 * first goes; one of the second comes.
 */
type Step = 'same' | 'keep' | 'remove' | 'add';

/** So many elements in a row. */
interface Run {
  step: Step;
  count: number;
}

/** From where on `count` elements of one array equal those of the other. */
interface Match {
  from: number;
  to: number;
  count: number;
}

// Bounds on the search for equal elements, so that a diff takes milliseconds: edits of one array, looks of all together.
const MAX_EDITS = 400;
const MAX_LOOKS = 1 << 21;

/** Arrays that lie deeper than this in one another have their elements compared by digests, which are made but once. */
const MAX_DEPTH_COMPARED = 2;

/** What an operation is to a reader beside its value, counted in values. */
const OPERATION_SIZE = 2;

class Differ {
  readonly operations: DiffOperation[] = [];
  /** Of the elements of arrays: an array in an array is asked for them again. */
  private readonly digests = new Map<JsonValue, number>();
  private readonly scalarDigests = new Map<JsonValue, number>();
  private arraysAround = 0;
  private looksLeft = MAX_LOOKS;

  values(from: JsonValue, to: JsonValue, place: Place): void {
    if (from === to) return;
    if (Array.isArray(from) && Array.isArray(to)) this.arrays(from, to, place);
    else if (isJsonObject(from) && isJsonObject(to)) this.objects(from, to, place);
    else this.operations.push({ op: 'replace', path: place.pointer, value: to });
  }

  private objects(from: JsonObject, to: JsonObject, place: Place): void {
    let fromKeys = Object.keys(from);
    let toKeys = Object.keys(to);
    if (isSameList(fromKeys, toKeys)) {
      fromKeys = fromKeys.filter((key) => from[key] !== to[key]);
      toKeys = fromKeys;
    }
    sort(fromKeys);
    sort(toKeys);
    for (let fromAt = 0, toAt = 0; fromAt < fromKeys.length || toAt < toKeys.length;) {
      const before = fromKeys[fromAt];
      const after = toKeys[toAt];
      if (before !== undefined && before === after) {
        this.values(from[before]!, to[before]!, new Place(place, before));
        fromAt++;
        toAt++;
      } else if (after === undefined || (before !== undefined && before < after)) {
        this.operations.push({ op: 'remove', path: place.pointer + formatPointer([before!]) });
        fromAt++;
      } else {
        this.operations.push({ op: 'add', path: place.pointer + formatPointer([after]), value: to[after]! });
        toAt++;
      }
    }
  }

  private arrays(from: JsonValue[], to: JsonValue[], place: Place): void {
    this.arraysAround++;
    let start = 0;
    let fromEnd = from.length;
    let toEnd = to.length;
    while (start < fromEnd && start < toEnd && this.areEqual(from[start]!, to[start]!)) start++;
    while (fromEnd > start && toEnd > start && this.areEqual(from[fromEnd - 1]!, to[toEnd - 1]!)) {
      fromEnd--;
      toEnd--;
    }
    let fromAt = start;
    // Also the index in the array as the operations so far leave it.
    let toAt = start;
    for (const { step, count } of this.align(from.slice(start, fromEnd), to.slice(start, toEnd))) {
      if (step === 'same') {
        fromAt += count;
        toAt += count;
        continue;
      }
      for (let left = count; left > 0; left--) {
        if (step === 'remove') {
          this.operations.push({ op: 'remove', path: `${place.pointer}/${toAt}` });
        } else if (step === 'add') {
          this.operations.push({ op: 'add', path: `${place.pointer}/${toAt}`, value: to[toAt]! });
        } else {
          this.elements(from[fromAt]!, to[toAt]!, new Place(place, toAt));
        }
        if (step !== 'add') fromAt++;
        if (step !== 'remove') toAt++;
      }
    }
    this.arraysAround--;
  }

  /** An element that became another one reads better as one replacement than as a list of changes inside. */
  private elements(from: JsonValue, to: JsonValue, place: Place): void {
    const { operations } = this;
    const first = operations.length;
    this.values(from, to, place);
    if (operations.length <= first + 1) return;
    let described = 0;
    for (let at = first; at < operations.length; at++) {
      const operation = operations[at]!;
      described += OPERATION_SIZE + (operation.op === 'remove' ? 0 : size(operation.value));
    }
    if (OPERATION_SIZE + size(to, described) >= described) return;
    operations.length = first;
    operations.push({ op: 'replace', path: place.pointer, value: to });
  }

  private areEqual(a: JsonValue, b: JsonValue): boolean {
    if (this.arraysAround > MAX_DEPTH_COMPARED && this.digest(a) !== this.digest(b)) return false;
    return jsonEquals(a, b);
  }

  private align(from: JsonValue[], to: JsonValue[]): Run[] {
    if (from.length === 0 || to.length === 0) return alignByPosition(from.length, to.length);
    if (from.length === to.length) {
      const runs = this.alignInPlace(from, to);
      if (runs) return runs;
    }
    const fromDigests = this.digestsOf(from);
    const toDigests = this.digestsOf(to);
    const common = new Set(fromDigests);
    if (!toDigests.some((digest) => common.has(digest))) return alignGap(from, to);
    const runs: Run[] = [];
    let fromAt = 0;
    let toAt = 0;
    const end: Match = { from: from.length, to: to.length, count: 0 };
    for (const match of [...this.matchEqual(fromDigests, toDigests), end]) {
      runs.push(...alignGap(from.slice(fromAt, match.from), to.slice(toAt, match.to)));
      runs.push({ step: 'keep', count: match.count });
      fromAt = match.from + match.count;
      toAt = match.to + match.count;
    }
    return runs;
  }

  /** By position when at least half of the elements are where they were: the others were changed in place. */
  private alignInPlace(from: JsonValue[], to: JsonValue[]): Run[] | undefined {
    const { length } = from;
    if (length === 1) return alignByPosition(1, 1);
    const runs: Run[] = [];
    let changed = 0;
    for (let at = 0, last: Run | undefined; at < length && changed * 2 <= length; at++) {
      const step = this.areEqual(from[at]!, to[at]!) ? 'same' : 'keep';
      if (step === 'keep') changed++;
      if (last?.step === step) last.count++;
      else runs.push((last = { step, count: 1 }));
    }
    return changed * 2 <= length ? runs : undefined;
  }

  /** The longest common subsequence (Myers, "An O(ND) Difference Algorithm", 1986), or nothing when it is too far to find. */
  private matchEqual(a: Int32Array, b: Int32Array): Match[] {
    const maxEdits = Math.min(MAX_EDITS, a.length + b.length);
    const origin = maxEdits + 1;
    // The furthest index in `a` on each diagonal (index in `a` - index in `b`), and its state before each round.
    const furthest = new Int32Array(2 * origin + 1);
    const rounds: Int32Array[] = [];
    for (let edits = 0; edits <= maxEdits && this.looksLeft > 0; edits++) {
      rounds.push(furthest.slice(origin - edits - 1, origin + edits + 2));
      for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
        const left = furthest[origin + diagonal - 1]!;
        const right = furthest[origin + diagonal + 1]!;
        const start = diagonal === -edits || (diagonal !== edits && left < right) ? right : left + 1;
        let x = start;
        while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
        furthest[origin + diagonal] = x;
        this.looksLeft -= x - start + 1;
        if (x >= a.length && x - diagonal >= b.length) return matchesOnTheWay(rounds, a.length, b.length);
      }
    }
    return [];
  }

  private digestsOf(elements: JsonValue[]): Int32Array {
    const digests = new Int32Array(elements.length);
    for (let at = 0; at < elements.length; at++) digests[at] = this.digest(elements[at]!);
    return digests;
  }

  /** Equal for equal values, whatever the order of their keys; different for most others. Only a hint: nothing rests on it. */
  private digest(element: JsonValue): number {
    if (element === null || typeof element !== 'object') return this.digestScalar(element);
    let hash = this.digests.get(element);
    if (hash === undefined) {
      hash = this.digestInside(element);
      this.digests.set(element, hash);
    }
    return hash;
  }

  private digestInside(value: JsonValue): number {
    if (value === null || typeof value !== 'object') return this.digestScalar(value);
    let hash = Array.isArray(value) ? 5 : 6;
    if (Array.isArray(value)) {
      for (const element of value) hash = (Math.imul(hash, 33) + this.digest(element)) | 0;
    } else {
      for (const key of Object.keys(value)) {
        hash = (hash + Math.imul(this.digestScalar(key) ^ 0x5bd1e995, this.digestInside(value[key]!) | 1)) | 0;
      }
    }
    return hash;
  }

  /** By the order in which they are met: the map compares strings many times as fast as a loop over their characters does. */
  private digestScalar(value: null | boolean | number | string): number {
    let hash = this.scalarDigests.get(value);
    if (hash === undefined) {
      hash = scatter(this.scalarDigests.size);
      this.scalarDigests.set(value, hash);
    }
    return hash;
  }
}

/** So that digests made of neighbouring numbers have nothing in common (the last steps of MurmurHash3). */
function scatter(number: number): number {
  let hash = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** By UTF-16 code units, in place; the keys of a canonical text are in that order already. */
function sort(keys: string[]): void {
  for (let at = 1; at < keys.length; at++) {
    if (keys[at - 1]! > keys[at]!) {
      keys.sort();
      return;
    }
  }
}

/** How many values there are in a value, itself included; the count ends soon after it is beyond `limit`. */
function size(value: JsonValue, limit = Infinity): number {
  if (value === null || typeof value !== 'object') return 1;
  let count = 1;
  for (const child of Array.isArray(value) ? value : Object.values(value)) {
    if (count > limit) break;
    count += size(child, limit - count);
  }
  return count;
}

function alignByPosition(fromLength: number, toLength: number): Run[] {
  const kept = Math.min(fromLength, toLength);
  return [
    { step: 'keep', count: kept },
    { step: 'remove', count: fromLength - kept },
    { step: 'add', count: toLength - kept },
  ];
}

function matchesOnTheWay(rounds: Int32Array[], fromLength: number, toLength: number): Match[] {
  const matches: Match[] = [];
  let x = fromLength;
  let y = toLength;
  for (let edits = rounds.length - 1; edits >= 0; edits--) {
    const round = rounds[edits]!;
    const origin = edits + 1;
    const diagonal = x - y;
    const left = round[origin + diagonal - 1]!;
    const right = round[origin + diagonal + 1]!;
    const previous = diagonal === -edits || (diagonal !== edits && left < right) ? diagonal + 1 : diagonal - 1;
    const previousX = edits === 0 ? 0 : round[origin + previous]!;
    const previousY = edits === 0 ? 0 : previousX - previous;
    const count = Math.min(x - previousX, y - previousY);
    if (count > 0) matches.push({ from: x - count, to: y - count, count });
    x = previousX;
    y = previousY;
  }
  return matches.reverse();
}

const MAX_GAP_PAIRS = 256;

/** Pairs the elements between two matches so that the likest meet, by least cost: a change costs less the liker the two are. */
function alignGap(from: JsonValue[], to: JsonValue[]): Run[] {
  if (from.length === to.length || from.length * to.length > MAX_GAP_PAIRS || from.length * to.length === 0) {
    return alignByPosition(from.length, to.length);
  }
  const width = to.length + 1;
  // The least cost and its first step from (i, j) to the end of both.
  const costs = new Float64Array((from.length + 1) * width);
  const firstSteps: Step[] = [];
  for (let i = from.length; i >= 0; i--) {
    for (let j = to.length; j >= 0; j--) {
      const at = i * width + j;
      const before = from[i];
      const after = to[j];
      const keep =
        before === undefined || after === undefined ? Infinity : costs[at + width + 1]! + 2 - similarity(before, after);
      const remove = before === undefined ? Infinity : costs[at + width]! + 1;
      const add = after === undefined ? Infinity : costs[at + 1]! + 1;
      const least = Math.min(keep, remove, add);
      costs[at] = least === Infinity ? 0 : least;
      firstSteps[at] = least === keep ? 'keep' : least === remove ? 'remove' : 'add';
    }
  }
  const runs: Run[] = [];
  for (let i = 0, j = 0; i < from.length || j < to.length;) {
    const step = firstSteps[i * width + j]!;
    runs.push({ step, count: 1 });
    if (step !== 'add') i++;
    if (step !== 'remove') j++;
  }
  return runs;
}

/** From 0, nothing in common, to 1: the share of keys, and of plain values under them, that two objects have in common. */
function similarity(a: JsonValue, b: JsonValue): number {
  if (Array.isArray(a) && Array.isArray(b)) return a.length > 0 && b.length > 0 ? 0.5 : 0;
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b ? 1 : 0;
  const keys = Object.keys(a);
  const shared = keys.filter((key) => Object.hasOwn(b, key));
  const same = shared.filter((key) => a[key] === b[key]);
  return (shared.length + same.length) / (2 * Math.max(keys.length, Object.keys(b).length, 1));
}
