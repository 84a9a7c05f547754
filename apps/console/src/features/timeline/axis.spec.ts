import { moveRange, ticksOf, wholeRange, zoomRange } from './axis.ts';

const WHOLE = { from: 0, to: 100_000 };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

it.each([
  ['a long period', 0, 1_000_000, { from: -30_000, to: 1_030_000 }],
  ['a period shorter than a minute', 5_000, 6_000, { from: 3_200, to: 7_800 }],
])('wholeRange adds a margin to %s', (_what, first, last, expected) => {
  expect(wholeRange(first, last)).toEqual(expected);
});

it.each([
  ['in around the middle', { from: 20_000, to: 40_000 }, 0.5, 0.5, { from: 25_000, to: 35_000 }],
  ['in around the start', { from: 20_000, to: 40_000 }, 0.5, 0, { from: 20_000, to: 30_000 }],
  ['in around the end', { from: 20_000, to: 40_000 }, 0.5, 1, { from: 30_000, to: 40_000 }],
  ['in no further than one second', { from: 20_000, to: 21_000 }, 0.1, 0.5, { from: 20_000, to: 21_000 }],
  ['out', { from: 40_000, to: 50_000 }, 2, 0.5, { from: 35_000, to: 55_000 }],
  ['out, but not before the start', { from: 1_000, to: 11_000 }, 2, 0.5, { from: 0, to: 20_000 }],
  ['out, but not beyond the end', { from: 89_000, to: 99_000 }, 2, 0.5, { from: 80_000, to: 100_000 }],
  ['out to the whole at most', { from: 20_000, to: 90_000 }, 2, 0.5, WHOLE],
])('zoomRange zooms %s', (_what, range, factor, about, expected) => {
  expect(zoomRange(range, factor, about, WHOLE)).toEqual(expected);
});

it.each([
  [10_000, { from: 30_000, to: 50_000 }],
  [-10_000, { from: 10_000, to: 30_000 }],
  [-30_000, { from: 0, to: 20_000 }],
  [90_000, { from: 80_000, to: 100_000 }],
])('moveRange moves by %i and stays within the whole', (by, expected) => {
  expect(moveRange({ from: 20_000, to: 40_000 }, by, WHOLE)).toEqual(expected);
});

describe('ticks', () => {
  const begin = new Date(2026, 0, 15, 9, 30).getTime();
  const steps = (span: number, most: number): number[] => {
    const at = ticksOf({ from: begin, to: begin + span }, most).map((tick) => tick.at);
    return at.slice(1).map((one, index) => one - (at[index] ?? 0));
  };

  it.each([
    [10_000, 10, 1_000],
    [50_000, 10, 5_000],
    [10 * 60_000, 10, 60_000],
    [10 * HOUR, 10, HOUR],
    [5 * DAY, 10, 12 * HOUR],
    [10 * DAY, 10, DAY],
    [20 * DAY, 10, 2 * DAY],
    [60 * DAY, 10, 7 * DAY],
  ])('in a range of %i ms, at most %i, are %i ms apart', (span, most, step) => {
    expect(new Set(steps(span, most))).toEqual(new Set([step]));
  });

  it.each([
    [10 * 365 * DAY, 10],
    [3 * 365 * DAY, 8],
    [400 * 365 * DAY, 6],
  ])('in a range of %i ms are at starts of months, and limited to %i', (span, most) => {
    const ticks = ticksOf({ from: begin, to: begin + span }, most);
    expect(ticks.length).toBeGreaterThan(0);
    expect(ticks.length).toBeLessThanOrEqual(most + 1);
    expect(ticks.every(({ at }) => new Date(at).getDate() === 1 && new Date(at).getHours() === 0)).toBe(true);
  });

  it('are within the range, and at full hours of local time', () => {
    const range = { from: begin + 1, to: begin + 10 * HOUR };
    const ticks = ticksOf(range, 10);
    expect(ticks.map(({ at }) => new Date(at).getMinutes())).toEqual(ticks.map(() => 0));
    expect(ticks.every(({ at }) => at >= range.from && at <= range.to)).toBe(true);
  });
});
