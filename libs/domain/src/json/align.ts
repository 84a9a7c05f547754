import type { ValueClasses } from './classes';
import { jsonEquals } from './equals';
import { isJsonObject, type JsonValue } from './value';

/**
 * A step from left to right through two arrays: an element is the same in both; one stays, changed or not; one of the
 * first goes; one of the second comes.
 */
type Step = 'same' | 'keep' | 'remove' | 'add';

/** So many elements in a row. */
export interface Run {
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

/** Arrays that lie deeper than this in one another have their elements compared by class, so that each is looked at once. */
const MAX_LEVELS_COMPARED = 2;

/**
 * Says how the elements of two arrays go together. All calls for one pair of documents take time in proportion to their
 * size, and {@link MAX_LOOKS} at most: an element is compared as a whole at {@link MAX_LEVELS_COMPARED} levels, its class
 * is made once, and it is set against 16 others at most.
 */
export class Aligner {
  #looksLeft = MAX_LOOKS;

  constructor(private readonly classes: ValueClasses) {}

  /** The steps from one array to the other. `level` is 1 for arrays that lie in no other. */
  align(from: JsonValue[], to: JsonValue[], level: number): Run[] {
    let start = 0;
    let fromEnd = from.length;
    let toEnd = to.length;
    while (start < fromEnd && start < toEnd && this.#areEqual(from[start]!, to[start]!, level)) start++;
    while (fromEnd > start && toEnd > start && this.#areEqual(from[fromEnd - 1]!, to[toEnd - 1]!, level)) {
      fromEnd--;
      toEnd--;
    }
    return [
      { step: 'same', count: start },
      ...this.#alignDifferent(from.slice(start, fromEnd), to.slice(start, toEnd), level),
    ];
  }

  #areEqual(a: JsonValue, b: JsonValue, level: number): boolean {
    return level > MAX_LEVELS_COMPARED ? this.classes.of(a) === this.classes.of(b) : jsonEquals(a, b);
  }

  #alignDifferent(from: JsonValue[], to: JsonValue[], level: number): Run[] {
    if (from.length === 0 || to.length === 0) return alignByPosition(from.length, to.length);
    if (from.length === to.length) {
      const runs = this.#alignInPlace(from, to, level);
      if (runs) return runs;
    }
    const fromClasses = this.#classesOf(from);
    const toClasses = this.#classesOf(to);
    const common = new Set(fromClasses);
    if (!toClasses.some((one) => common.has(one))) return alignGap(from, to);
    const runs: Run[] = [];
    let fromAt = 0;
    let toAt = 0;
    const end: Match = { from: from.length, to: to.length, count: 0 };
    for (const match of [...this.#matchEqual(fromClasses, toClasses), end]) {
      runs.push(...alignGap(from.slice(fromAt, match.from), to.slice(toAt, match.to)));
      runs.push({ step: 'same', count: match.count });
      fromAt = match.from + match.count;
      toAt = match.to + match.count;
    }
    return runs;
  }

  /** By position when at least half of the elements are where they were: the others were changed in place. */
  #alignInPlace(from: JsonValue[], to: JsonValue[], level: number): Run[] | undefined {
    const { length } = from;
    if (length === 1) return alignByPosition(1, 1);
    const runs: Run[] = [];
    let changed = 0;
    for (let at = 0, last: Run | undefined; at < length && changed * 2 <= length; at++) {
      const step = this.#areEqual(from[at]!, to[at]!, level) ? 'same' : 'keep';
      if (step === 'keep') changed++;
      if (last?.step === step) last.count++;
      else runs.push((last = { step, count: 1 }));
    }
    return changed * 2 <= length ? runs : undefined;
  }

  /** The longest common subsequence (Myers, "An O(ND) Difference Algorithm", 1986), or nothing when it is too far to find. */
  #matchEqual(a: Int32Array, b: Int32Array): Match[] {
    const maxEdits = Math.min(MAX_EDITS, a.length + b.length);
    const origin = maxEdits + 1;
    // The furthest index in `a` on each diagonal (index in `a` - index in `b`), and its state before each round.
    const furthest = new Int32Array(2 * origin + 1);
    const rounds: Int32Array[] = [];
    for (let edits = 0; edits <= maxEdits && this.#looksLeft > 0; edits++) {
      rounds.push(furthest.slice(origin - edits - 1, origin + edits + 2));
      for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
        const left = furthest[origin + diagonal - 1]!;
        const right = furthest[origin + diagonal + 1]!;
        const start = diagonal === -edits || (diagonal !== edits && left < right) ? right : left + 1;
        let x = start;
        while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
        furthest[origin + diagonal] = x;
        this.#looksLeft -= x - start + 1;
        if (x >= a.length && x - diagonal >= b.length) return matchesOnTheWay(rounds, a.length, b.length);
      }
    }
    return [];
  }

  #classesOf(elements: JsonValue[]): Int32Array {
    return Int32Array.from(elements, (element) => this.classes.of(element));
  }
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
  const fromKeys = from.map(keysOf);
  const toKeys = to.map(keysOf);
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
        before === undefined || after === undefined
          ? Infinity
          : costs[at + width + 1]! + 2 - similarity(before, after, fromKeys[i]!, toKeys[j]!);
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

function keysOf(value: JsonValue): string[] {
  return isJsonObject(value) ? Object.keys(value) : [];
}

/**
 * From 0, nothing in common, to 1: the share of keys, and of plain values under them, that two objects have in common. Looks
 * at the keys of the smaller one, so that a large object is not looked at once for each of many small ones.
 */
function similarity(a: JsonValue, b: JsonValue, aKeys: string[], bKeys: string[]): number {
  if (Array.isArray(a) && Array.isArray(b)) return a.length > 0 && b.length > 0 ? 0.5 : 0;
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b ? 1 : 0;
  let shared = 0;
  let same = 0;
  const other = aKeys.length <= bKeys.length ? b : a;
  for (const key of other === b ? aKeys : bKeys) {
    if (!Object.hasOwn(other, key)) continue;
    shared++;
    if (a[key] === b[key]) same++;
  }
  return (shared + same) / (2 * Math.max(aKeys.length, bKeys.length, 1));
}
