import type { Range } from './axis.ts';
import type { Happening } from './happenings.ts';

/** Moments at the same place of the axis. */
export interface Bin {
  readonly x: number;
  readonly items: readonly Happening[];
}

/** An item with a duration, in a row where it overlaps no other. */
export interface Bar {
  readonly x: number;
  readonly width: number;
  readonly row: number;
  readonly item: Happening;
}

/** The width of a bin, in pixels. */
export const BIN = 4;
/** The maximum number of bars. If there are more, their beginnings are shown in bins. */
export const MOST_BARS = 250;
export const MOST_ROWS = 5;

/** Groups the moments in the range by pixels. `sorted` is sorted by time. */
export function binsOf(sorted: readonly Happening[], range: Range, width: number): readonly Bin[] {
  const scale = width / (range.to - range.from);
  const bins: { x: number; items: Happening[] }[] = [];
  for (let index = firstFrom(sorted, range.from); index < sorted.length; index++) {
    const item = sorted[index];
    if (item === undefined || item.from > range.to) break;
    const x = Math.floor(((item.from - range.from) * scale) / BIN) * BIN;
    const last = bins.at(-1);
    if (last?.x === x) last.items.push(item);
    else bins.push({ x, items: [item] });
  }
  return bins;
}

/** Places each item in the first free row. `sorted` is sorted by beginning. Returns null for too many bars or rows. */
export function barsOf(sorted: readonly Happening[], range: Range, width: number, now: number): readonly Bar[] | null {
  const scale = width / (range.to - range.from);
  const place = (at: number): number => Math.min(Math.max((at - range.from) * scale, -2), width + 2);
  const bars: Bar[] = [];
  const ends: number[] = [];
  for (const item of sorted) {
    const to = item.to ?? Math.max(now, item.from);
    if (item.from > range.to || to < range.from) continue;
    if (bars.length === MOST_BARS) return null;
    const x = place(item.from);
    const end = Math.max(place(item.to === null ? range.to : to), x + 6);
    const free = ends.findIndex((one) => one + 2 <= x);
    const row = free === -1 ? ends.length : free;
    if (row === MOST_ROWS) return null;
    ends[row] = end;
    bars.push({ x, width: end - x, row, item });
  }
  return bars;
}

/** Returns the index of the first item that does not begin before `at`. */
function firstFrom(sorted: readonly Happening[], at: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.from ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the items in the range, newest first. */
export function inSight(sorted: readonly Happening[], range: Range): readonly Happening[] {
  return sorted
    .filter(({ from, to }) => from <= range.to && (to === undefined ? from : (to ?? Infinity)) >= range.from)
    .reverse();
}
