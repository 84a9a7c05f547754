import type { ValueClasses } from './classes';
import { jsonEquals } from './equals';
import { getMember } from './pointer';
import { isJsonObject, type JsonValue } from './value';

/**
 * Maps the elements of an array to those of an earlier array. Each list has an index into the earlier array, or -1, for
 * every element.
 */
export interface Alignment {
  /** The element's counterpart, wherever it was; -1 for a new element. */
  was: number[];
  /** True if the element is equal to its counterpart. */
  isSame: boolean[];
  /** The earlier element that this one keeps or replaces if the order is kept; -1 for an inserted element. */
  stays: number[];
}

/** Elements of arrays nested more deeply are compared by class, so that each value is read only once. */
const MAX_LEVELS_COMPARED = 2;

/** A member that more elements share does not help to tell them apart. */
const MAX_ALIKE = 8;

/**
 * Aligns two arrays in linear time. `level` is 1 for arrays that are in no other array. Elements are matched in this
 * order:
 *
 * 1. equal elements;
 * 2. objects with the same `id`, or that share at least half of their members, if no other shares more;
 * 3. the remaining elements between two that keep their order, by position.
 *
 * Elements with different `id`s never match.
 */
export function align(from: JsonValue[], to: JsonValue[], level: number, classes: ValueClasses): Alignment {
  const areEqual = (one: JsonValue, other: JsonValue): boolean =>
    level > MAX_LEVELS_COMPARED ? classes.of(one) === classes.of(other) : jsonEquals(one, other);
  const membersOf = (value: JsonValue): string[] =>
    isJsonObject(value) ? Object.keys(value).map((key) => `${key} ${classes.of(value[key]!)}`) : [];
  /** Returns undefined if one of them has no id. */
  const haveSameId = (one: JsonValue, other: JsonValue): boolean | undefined => {
    const [id, otherId] = [getMember(one, 'id'), getMember(other, 'id')];
    return id === undefined || otherId === undefined ? undefined : classes.of(id) === classes.of(otherId);
  };

  const was = to.map(() => -1);
  const isSame = to.map(() => false);
  const stays = [...was];
  const keep = (at: number, index: number): void => {
    was[at] = stays[at] = index;
    isSame[at] = true;
  };
  let start = 0;
  let fromEnd = from.length;
  let toEnd = to.length;
  for (; start < fromEnd && start < toEnd && areEqual(from[start]!, to[start]!); start++) keep(start, start);
  while (fromEnd > start && toEnd > start && areEqual(from[fromEnd - 1]!, to[toEnd - 1]!)) keep(--toEnd, --fromEnd);

  // The earlier elements that have no counterpart yet.
  const rest = new Set<number>();
  const byClass = new Map<number, number[]>();
  for (let index = fromEnd; index-- > start;) push(byClass, classes.of(from[index]!), index);
  for (let index = start; index < fromEnd; index++) rest.add(index);
  for (let at = start; at < toEnd; at++) {
    const index = byClass.get(classes.of(to[at]!))?.pop();
    if (index === undefined) continue;
    was[at] = index;
    isSame[at] = true;
    rest.delete(index);
  }

  const byMember = new Map<string, number[]>();
  for (const index of rest) for (const member of membersOf(from[index]!)) push(byMember, member, index);
  for (let at = start; at < toEnd; at++) {
    if (isSame[at]) continue;
    const members = membersOf(to[at]!);
    const shared = new Map<number, number>();
    for (const member of members) {
      const alike = byMember.get(member) ?? [];
      if (alike.length <= MAX_ALIKE) for (const index of alike) shared.set(index, (shared.get(index) ?? 0) + 1);
    }
    let most = 0;
    for (const [index, count] of shared) {
      const hasSameId = rest.has(index) ? haveSameId(from[index]!, to[at]!) : false;
      const likeness = hasSameId === undefined ? count : hasSameId ? Infinity : 0;
      if (2 * likeness < members.length) continue;
      if (likeness > most || (likeness === most && index < was[at]!)) [was[at], most] = [index, likeness];
    }
    rest.delete(was[at]!);
  }

  const staying = longestRise(was, start, toEnd);
  let [at, next] = [start, start];
  for (let one = 0; one <= staying.length; one++) {
    const end = staying[one] ?? toEnd;
    const stop = one < staying.length ? was[end]! : fromEnd;
    for (; at < end; at++) {
      if (was[at]! >= 0) continue;
      while (next < stop && !rest.has(next)) next++;
      if (next === stop) continue;
      stays[at] = next;
      if (haveSameId(from[next]!, to[at]!) !== false) was[at] = next;
      next++;
    }
    if (one < staying.length) stays[at++] = stop;
    next = stop + 1;
  }
  return { was, isSame, stays };
}

/** Returns the positions, from `start` on, of the longest ascending subsequence. Negative values are skipped. */
function longestRise(values: readonly number[], start: number, end: number): number[] {
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (let at = start; at < end; at++) {
    if (values[at]! < 0) continue;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[ends[middle]!]! < values[at]!) low = middle + 1;
      else high = middle;
    }
    before[at] = ends[low - 1];
    ends[low] = at;
  }
  const rise: number[] = [];
  for (let at = ends.at(-1); at !== undefined; at = before[at]) rise.push(at);
  return rise.reverse();
}

function push<Key>(map: Map<Key, number[]>, key: Key, value: number): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}
