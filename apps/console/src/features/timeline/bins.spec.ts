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

it('moments are put together by their pixels, those of the range alone', () => {
  const items = [99, 100, 100.5, 103, 104, 200, 201].map((at) => happening(at));
  const bins = binsOf(items, RANGE, 100);
  expect(bins.map(({ x, items: all }) => [x, all.map(({ from }) => from)])).toEqual([
    [0, [100, 100.5, 103]],
    [BIN, [104]],
    [100, [200]],
  ]);
});

it.each([
  ['one that ends', happening(110, 150), { x: 10, width: 40, row: 0 }],
  ['a short one, wide enough to be seen', happening(110, 111), { x: 10, width: 6, row: 0 }],
  ['one that began before', happening(50, 150), { x: -2, width: 52, row: 0 }],
  ['one that ends after', happening(150, 500), { x: 50, width: 52, row: 0 }],
  ['one that goes on', happening(150, null), { x: 50, width: 50, row: 0 }],
])('a bar is where %s is', (_what, item, expected) => {
  expect(barsOf([item], RANGE, 100, 160)).toEqual([{ ...expected, item }]);
});

it.each([
  ['before the range', happening(50, 99)],
  ['after the range', happening(201, 300)],
  ['going on, and over by now', happening(20, null)],
])('there is no bar of one %s', (_what, item) => {
  expect(barsOf([item], RANGE, 100, 90)).toEqual([]);
});

it('bars that meet stand in rows, and the next free row is taken', () => {
  const items = [happening(100, 120), happening(110, 130), happening(123, 140)];
  expect(barsOf(items, RANGE, 100, 200)?.map(({ row }) => row)).toEqual([0, 1, 0]);
});

it.each([
  ['rows', Array.from({ length: MOST_ROWS }, () => happening(100, 200)), MOST_ROWS],
  ['rows', Array.from({ length: MOST_ROWS + 1 }, () => happening(100, 200)), null],
  ['bars', Array.from({ length: MOST_BARS }, (_, index) => happening(100 + index * 10, 101 + index * 10)), MOST_BARS],
  ['bars', Array.from({ length: MOST_BARS + 1 }, (_, index) => happening(100 + index * 10, 101 + index * 10)), null],
])('too many %s are no bars', (_what, items, count) => {
  const bars = barsOf(items, { from: 100, to: 10_000 }, 9_900, 10_000);
  expect(bars?.length ?? null).toBe(count);
});

it('what is in sight is told newest first', () => {
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
