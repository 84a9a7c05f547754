import type { Range } from './axis.ts';
import type { Happening } from './happenings.ts';

/** Moments that fall onto the same place of the axis. */
export interface Bin {
  readonly x: number;
  readonly items: readonly Happening[];
}

/** What goes on for a while, in a row in which it meets no other. */
export interface Bar {
  readonly x: number;
  readonly width: number;
  readonly row: number;
  readonly item: Happening;
}

/** How wide a bin is, in pixels. */
export const BIN = 4;
/** Bars that can be told apart; more become bins of their begins. */
export const MOST_BARS = 250;
export const MOST_ROWS = 5;

/** Of moments that are sorted by time: those in the range, put together by pixels. */
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

/** Of what is sorted by its begin: each in the first row that is free; null where there are too many. */
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

/** The first place whose moment is not before `at`. */
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

/** What is in the range, newest first. */
export function inSight(sorted: readonly Happening[], range: Range): readonly Happening[] {
  return sorted
    .filter(({ from, to }) => from <= range.to && (to === undefined ? from : (to ?? Infinity)) >= range.from)
    .reverse();
}
