import { barsOf, BIN, binsOf, inSight, MOST_BARS, MOST_ROWS } from './bins.ts';
import type { Happening } from './happenings.ts';

const happening = (from: number, to?: number | null): Happening => ({
  kind: 'version',
  key: `${from} ${to}`,
  from,
  ...(to === undefined ? {} : { to }),
  title: '',
  state: '',
  detail: '',
  link: { view: 'sharing' },
});
const RANGE = { from: 100, to: 200 };

it('binsOf groups the moments within the range by pixels', () => {
  const items = [99, 100, 100.5, 103, 104, 200, 201].map((at) => happening(at));
  const bins = binsOf(items, RANGE, 100);
  expect(bins.map(({ x, items: all }) => [x, all.map(({ from }) => from)])).toEqual([
    [0, [100, 100.5, 103]],
    [BIN, [104]],
    [100, [200]],
  ]);
});

it.each([
  ['a period within the range', happening(110, 150), { x: 10, width: 40, row: 0 }],
  ['a short period with a visible width', happening(110, 111), { x: 10, width: 6, row: 0 }],
  ['a period that began before the range', happening(50, 150), { x: -2, width: 52, row: 0 }],
  ['a period that ends after the range', happening(150, 500), { x: 50, width: 52, row: 0 }],
  ['a period without an end', happening(150, null), { x: 50, width: 50, row: 0 }],
])('barsOf places %s', (_what, item, expected) => {
  expect(barsOf([item], RANGE, 100, 160)).toEqual([{ ...expected, item }]);
});

it.each([
  ['before the range', happening(50, 99)],
  ['after the range', happening(201, 300)],
  ['without an end, if now is before the range', happening(20, null)],
])('barsOf leaves out a period %s', (_what, item) => {
  expect(barsOf([item], RANGE, 100, 90)).toEqual([]);
});

it('barsOf puts overlapping periods into rows, and reuses a free row', () => {
  const items = [happening(100, 120), happening(110, 130), happening(123, 140)];
  expect(barsOf(items, RANGE, 100, 200)?.map(({ row }) => row)).toEqual([0, 1, 0]);
});

it.each([
  ['the most rows', Array.from({ length: MOST_ROWS }, () => happening(100, 200)), MOST_ROWS],
  ['too many rows', Array.from({ length: MOST_ROWS + 1 }, () => happening(100, 200)), null],
  [
    'the most bars',
    Array.from({ length: MOST_BARS }, (_, index) => happening(100 + index * 10, 101 + index * 10)),
    MOST_BARS,
  ],
  [
    'too many bars',
    Array.from({ length: MOST_BARS + 1 }, (_, index) => happening(100 + index * 10, 101 + index * 10)),
    null,
  ],
])('barsOf returns bars only up to its limits: %s', (_what, items, count) => {
  const bars = barsOf(items, { from: 100, to: 10_000 }, 9_900, 10_000);
  expect(bars?.length ?? null).toBe(count);
});

it('inSight returns the items within the range, newest first', () => {
  const items = [
    happening(50),
    happening(60, 100),
    happening(70, null),
    happening(100),
    happening(200),
    happening(201),
  ];
  expect(inSight(items, RANGE).map(({ from }) => from)).toEqual([200, 100, 70, 60]);
});
