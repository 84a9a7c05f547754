const DAY_S = 86_400;
/** A shorter stretch of time is widened to this one. */
const LEAST_SPAN_S = 60;

/** The distances between the lines of a count. They are whole, as counts are. */
export const COUNT_STEPS: readonly number[] = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();

type Range = [from: number, to: number];

/**
 * Returns the stretch that an axis of time shows, in seconds: from the first to the last moment. `room` is added on both sides,
 * for bars that stand on their moment. Moments that are one are shown within a minute.
 */
export function timeRange(first: number, last: number, room: number): Range {
  const margin = Math.max(room, (LEAST_SPAN_S - (last - first)) / 2);
  return [first - margin, last + margin];
}

/** Returns the room that bars need beside the first and the last moment: half a step, or half a day for a bar alone. */
export function roomOfBars([first = 0, second]: readonly number[]): number {
  return ((second ?? first + DAY_S) - first) / 2;
}

/** Returns the stretch that an axis of counts shows: whole numbers that are at least 1 apart. Null: there is no count. */
export function countRange(least: number | null, most: number | null): Range {
  const from = Math.floor(least ?? 0);
  return [from, Math.max(from + 1, Math.ceil(most ?? 0))];
}

/** Says whether times of an axis are shown with their hour, by the seconds between two of them. */
export function isWithinDays(step: number): boolean {
  return step < DAY_S;
}
