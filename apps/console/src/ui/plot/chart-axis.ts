const DAY_S = 86_400;
/** A shorter range is extended to this length. */
const LEAST_SPAN_S = 60;

/** The distances between grid lines of a count, which are whole numbers. */
export const COUNT_STEPS: readonly number[] = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();

type Range = [from: number, to: number];

/**
 * Returns the range of a time axis in seconds: from the first to the last moment, with `room` on both sides for bars. A single
 * moment gets a range of a minute.
 */
export function timeRange(first: number, last: number, room: number): Range {
  const margin = Math.max(room, (LEAST_SPAN_S - (last - first)) / 2);
  return [first - margin, last + margin];
}

/** Returns the space that bars need on both sides: half a step, or half a day for a single bar. */
export function roomOfBars([first = 0, second]: readonly number[]): number {
  return ((second ?? first + DAY_S) - first) / 2;
}

/** Returns the range of an axis of counts: whole numbers that are at least 1 apart. Null means no count. */
export function countRange(least: number | null, most: number | null): Range {
  const from = Math.floor(least ?? 0);
  return [from, Math.max(from + 1, Math.ceil(most ?? 0))];
}

/** Returns whether the labels of a time axis show hours. `step` is the distance between labels in seconds. */
export function isWithinDays(step: number): boolean {
  return step < DAY_S;
}
