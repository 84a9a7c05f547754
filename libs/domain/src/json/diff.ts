import { jsonEquals } from './patch';
import { formatPointer } from './pointer';
import { isJsonObject, type JsonObject, type JsonValue } from './value';

/** An operation of a diff: a JSON Patch operation (RFC 6902 section 4) of the kinds that need no other value's place. */
export type DiffOperation = { op: 'add' | 'replace'; path: string; value: JsonValue } | { op: 'remove'; path: string };

/**
 * The JSON Patch (RFC 6902) that turns `from` into `to` exactly. The same two values give the same operations: keys are
 * visited in the order of their UTF-16 code units. An element inserted into an array is one `add`, one taken out is one
 * `remove`, and one changed where it stands is described inside. The values in the result are those of `to`, not copies.
 */
export function diff(from: JsonValue, to: JsonValue): DiffOperation[] {
  const operations: DiffOperation[] = [];
  diffValues(from, to, [], operations);
  return operations;
}

type Path = (string | number)[];

function diffValues(from: JsonValue, to: JsonValue, path: Path, operations: DiffOperation[]): void {
  if (from === to) return;
  if (Array.isArray(from) && Array.isArray(to)) diffArrays(from, to, path, operations);
  else if (isJsonObject(from) && isJsonObject(to)) diffObjects(from, to, path, operations);
  else operations.push({ op: 'replace', path: formatPointer(path), value: to });
}

function diffObjects(from: JsonObject, to: JsonObject, path: Path, operations: DiffOperation[]): void {
  // Only the keys that differ are worth sorting.
  const changes: { key: string; operations: DiffOperation[] }[] = [];
  for (const [key, value] of Object.entries(from)) {
    const target = Object.hasOwn(to, key) ? to[key] : undefined;
    if (value === target) continue;
    path.push(key);
    const inside: DiffOperation[] = [];
    if (target === undefined) inside.push({ op: 'remove', path: formatPointer(path) });
    else diffValues(value, target, path, inside);
    path.pop();
    if (inside.length > 0) changes.push({ key, operations: inside });
  }
  for (const [key, value] of Object.entries(to)) {
    if (Object.hasOwn(from, key)) continue;
    changes.push({ key, operations: [{ op: 'add', path: formatPointer([...path, key]), value }] });
  }
  changes.sort((a, b) => (a.key < b.key ? -1 : 1));
  for (const change of changes) for (const operation of change.operations) operations.push(operation);
}

function diffArrays(from: JsonValue[], to: JsonValue[], path: Path, operations: DiffOperation[]): void {
  let start = 0;
  let fromEnd = from.length;
  let toEnd = to.length;
  while (start < fromEnd && start < toEnd && jsonEquals(from[start]!, to[start]!)) start++;
  while (fromEnd > start && toEnd > start && jsonEquals(from[fromEnd - 1]!, to[toEnd - 1]!)) {
    fromEnd--;
    toEnd--;
  }
  let fromAt = start;
  // Also the index in the array as the operations so far leave it.
  let toAt = start;
  for (const step of align(from.slice(start, fromEnd), to.slice(start, toEnd))) {
    path.push(toAt);
    if (step === 'keep') diffElements(from[fromAt]!, to[toAt]!, path, operations);
    else if (step === 'remove') operations.push({ op: 'remove', path: formatPointer(path) });
    else operations.push({ op: 'add', path: formatPointer(path), value: to[toAt]! });
    path.pop();
    if (step !== 'add') fromAt++;
    if (step !== 'remove') toAt++;
  }
}

function diffElements(from: JsonValue, to: JsonValue, path: Path, operations: DiffOperation[]): void {
  if (jsonEquals(from, to)) return;
  // Two elements with nothing in common read better as one replacement than as a list of changes inside.
  if (similarity(from, to) > 0) diffValues(from, to, path, operations);
  else operations.push({ op: 'replace', path: formatPointer(path), value: to });
}

/** A step from left to right through two arrays: an element stays, changed or not; one of the first goes; one of the second comes. */
type Step = 'keep' | 'remove' | 'add';

function align(from: JsonValue[], to: JsonValue[]): Step[] {
  if (from.length === 0 || to.length === 0) return alignByPosition(from, to);
  const fromDigests = from.map(digest);
  const toDigests = to.map(digest);
  if (from.length === to.length) {
    // As many elements and most of them where they were: the others were changed in place.
    const unmoved = fromDigests.filter((value, index) => value === toDigests[index]).length;
    if (unmoved * 2 >= from.length) return alignByPosition(from, to);
  }
  const steps: Step[] = [];
  let fromAt = 0;
  let toAt = 0;
  const end: Match = { from: from.length, to: to.length };
  for (const match of [...matchEqual(fromDigests, toDigests), end]) {
    for (const step of alignGap(from.slice(fromAt, match.from), to.slice(toAt, match.to))) steps.push(step);
    if (match !== end) steps.push('keep');
    fromAt = match.from + 1;
    toAt = match.to + 1;
  }
  return steps;
}

function alignByPosition(from: JsonValue[], to: JsonValue[]): Step[] {
  const kept = Math.min(from.length, to.length);
  return [
    ...Array<Step>(kept).fill('keep'),
    ...Array<Step>(from.length - kept).fill('remove'),
    ...Array<Step>(to.length - kept).fill('add'),
  ];
}

/** Where an element of one array equals one of the other. */
interface Match {
  from: number;
  to: number;
}

// Bounds on the edit distance looked for, and on the elements looked at on the way: a few milliseconds.
const MAX_EDITS = 400;
const MAX_LOOKS = 1 << 23;

/** The longest common subsequence (Myers, "An O(ND) Difference Algorithm", 1986), or nothing when the arrays are too far apart. */
function matchEqual(a: number[], b: number[]): Match[] {
  const maxEdits = Math.min(MAX_EDITS, a.length + b.length, Math.floor(MAX_LOOKS / (a.length + b.length)));
  const origin = maxEdits + 1;
  // The furthest index in `a` on each diagonal (index in `a` - index in `b`), and its state before each round.
  const furthest = new Int32Array(2 * origin + 1);
  const rounds: Int32Array[] = [];
  for (let edits = 0; edits <= maxEdits; edits++) {
    rounds.push(furthest.slice(origin - edits - 1, origin + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const left = furthest[origin + diagonal - 1]!;
      const right = furthest[origin + diagonal + 1]!;
      let x = diagonal === -edits || (diagonal !== edits && left < right) ? right : left + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      furthest[origin + diagonal] = x;
      if (x >= a.length && x - diagonal >= b.length) return matchesOnTheWay(rounds, a.length, b.length);
    }
  }
  return [];
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
    while (x > previousX && y > previousY) matches.push({ from: --x, to: --y });
    x = previousX;
    y = previousY;
  }
  return matches.reverse();
}

const MAX_GAP_PAIRS = 256;

/** Pairs the elements between two matches so that the likest meet, by least cost: a change costs less the liker the two are. */
function alignGap(from: JsonValue[], to: JsonValue[]): Step[] {
  if (from.length === to.length || from.length * to.length > MAX_GAP_PAIRS || from.length * to.length === 0) {
    return alignByPosition(from, to);
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
  const steps: Step[] = [];
  for (let i = 0, j = 0; i < from.length || j < to.length;) {
    const step = firstSteps[i * width + j]!;
    steps.push(step);
    if (step !== 'add') i++;
    if (step !== 'remove') j++;
  }
  return steps;
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

/** Equal for equal values, whatever the order of their keys; different for most others. Only a hint: nothing rests on it. */
function digest(value: JsonValue): number {
  switch (typeof value) {
    case 'string': {
      let hash = 7;
      for (let at = 0; at < value.length; at++) hash = (Math.imul(hash, 31) + value.charCodeAt(at)) | 0;
      return hash;
    }
    case 'number':
      return Math.imul(value | 0, 0x9e3779b1) ^ ((value % 1) * 0x7fffffff);
    case 'boolean':
      return value ? 1 : 2;
    default:
      break;
  }
  if (value === null) return 3;
  let hash = Array.isArray(value) ? 5 : 6;
  if (Array.isArray(value)) {
    for (const element of value) hash = (Math.imul(hash, 33) + digest(element)) | 0;
  } else {
    for (const [key, member] of Object.entries(value))
      hash = (hash + Math.imul(digest(key) ^ 0x5bd1e995, digest(member) | 1)) | 0;
  }
  return hash;
}
