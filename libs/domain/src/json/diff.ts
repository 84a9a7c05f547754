import { Aligner } from './align';
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

/** What an operation is to a reader beside its value, counted in values. */
const OPERATION_SIZE = 2;

class Differ {
  readonly operations: DiffOperation[] = [];
  private readonly aligner = new Aligner();

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
    this.aligner.arraysAround++;
    let start = 0;
    let fromEnd = from.length;
    let toEnd = to.length;
    while (start < fromEnd && start < toEnd && this.aligner.areEqual(from[start]!, to[start]!)) start++;
    while (fromEnd > start && toEnd > start && this.aligner.areEqual(from[fromEnd - 1]!, to[toEnd - 1]!)) {
      fromEnd--;
      toEnd--;
    }
    let fromAt = start;
    // Also the index in the array as the operations so far leave it.
    let toAt = start;
    for (const { step, count } of this.aligner.align(from.slice(start, fromEnd), to.slice(start, toEnd))) {
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
    this.aligner.arraysAround--;
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
