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

/** One step through two arrays, from left to right: an element of `from` stays in some form, goes, or one of `to` comes. */
type Step = 'keep' | 'remove' | 'add';

function diffArrays(from: JsonValue[], to: JsonValue[], path: Path, operations: DiffOperation[]): void {
  let start = 0;
  let fromEnd = from.length;
  let toEnd = to.length;
  while (start < fromEnd && start < toEnd && isSame(from[start], to[start])) start++;
  while (fromEnd > start && toEnd > start && isSame(from[fromEnd - 1], to[toEnd - 1])) {
    fromEnd--;
    toEnd--;
  }
  let fromAt = start;
  let toAt = start;
  // `toAt` is also the index in the array as the operations so far leave it.
  for (const step of align(from.slice(start, fromEnd), to.slice(start, toEnd))) {
    path.push(toAt);
    const before = from[fromAt];
    const after = to[toAt];
    if (step === 'remove') {
      operations.push({ op: 'remove', path: formatPointer(path) });
    } else if (after !== undefined) {
      if (step === 'add') operations.push({ op: 'add', path: formatPointer(path), value: after });
      else if (before !== undefined) diffElements(before, after, path, operations);
    }
    path.pop();
    if (step !== 'add') fromAt++;
    if (step !== 'remove') toAt++;
  }
}

/** Two elements without anything in common read better as one replacement than as a list of changes inside. */
function diffElements(from: JsonValue, to: JsonValue, path: Path, operations: DiffOperation[]): void {
  if (from === to) return;
  if (similarity(from, to) > 0) diffValues(from, to, path, operations);
  else operations.push({ op: 'replace', path: formatPointer(path), value: to });
}

function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a !== undefined && b !== undefined && jsonEquals(a, b);
}
