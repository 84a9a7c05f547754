import { alternate, alternateOver, ends, type Figure, figure } from './measure.ts';
import { costPlot, curvePlot, targetPlot } from './plots.ts';
import {
  comparison,
  type Cost,
  costTable,
  isReached,
  type Line,
  profileTable,
  ratioOf,
  round,
  type Run,
  sizingTable,
  table,
} from './run.ts';

/** A figure whose spread is this share of its median. */
const spreading = (median: number, spread: number): Figure => figure([median * (1 - spread), median, median * (1 + spread)]);

const line = (given: Partial<Line>): Line => ({ id: 'x', what: 'Work', figure: figure([1]), unit: '/s', ...given });

const run = (lines: Line[], more: Partial<Run> = {}): Run => ({
  at: '2026-01-15T09:30:00.000Z',
  commit: 'abc',
  machine: { cpu: 'CPU', cores: 2, memoryGiB: 8, node: 'v26', postgres: '18', redis: '7' },
  quick: false,
  parts: [],
  lines,
  costs: [],
  curves: [],
  profiles: [],
  ...more,
});

const cost = (id: string, gateway: number, postgres: number, spread = 0): Cost => ({
  id,
  what: id,
  gateway: spreading(gateway, spread),
  postgres: spreading(postgres, spread),
  generator: spreading(30, spread),
});

describe('figure', () => {
  it.each([
    [[5], 5, 0],
    [[3, 1, 2], 2, 0.5],
    [[4, 1, 3, 2], 2.5, 0.6],
    [[0, 0], 0, 0],
  ])('returns for %j the median %s and the spread %s', (values, median, spread) => {
    expect(figure(values)).toEqual({ median, spread, values });
  });
});

describe('measurements', () => {
  it('alternate runs all measurements in each round and drops uncounted rounds', async () => {
    const calls: string[] = [];
    const count = (name: string) => async () => calls.push(name);
    const measured = await alternate({ rounds: 2, uncounted: 1 }, { a: count('a'), b: count('b') });
    expect(calls.join('')).toBe('ababab');
    expect(measured).toEqual({ a: [3, 5], b: [4, 6] });
  });

  it('alternateOver runs all sizes in each round and drops uncounted rounds', async () => {
    const calls: number[] = [];
    const measured = await alternateOver({ rounds: 2, uncounted: 1 }, [1, 10], async (size) => calls.push(size));
    expect(calls).toEqual([1, 10, 1, 10, 1, 10]);
    expect(measured).toEqual([
      { size: 1, values: [3, 5] },
      { size: 10, values: [4, 6] },
    ]);
  });

  it('ends returns the first and last value, and refuses an empty list', () => {
    expect(ends([1, 2, 3])).toEqual([1, 3]);
    expect(() => ends([])).toThrow('Nothing was measured');
  });
});

describe('isReached', () => {
  it('compares the ratio with the target if there is a ceiling', () => {
    const against = { what: 'no-op', figure: figure([100]) };
    expect(ratioOf(line({ figure: figure([120]), against }))).toBe(1.2);
    expect(isReached(line({ figure: figure([120]), against, target: { least: 1.2 } }))).toBe(true);
    expect(isReached(line({ figure: figure([119]), against, target: { least: 1.2 } }))).toBe(false);
    expect(isReached(line({ figure: figure([121]), against, target: { most: 1.2 } }))).toBe(false);
  });

  it('compares the figure with the target if there is no ceiling', () => {
    expect(isReached(line({ figure: figure([15]), target: { most: 15 } }))).toBe(true);
    expect(isReached(line({}))).toBeUndefined();
  });
});

describe('round', () => {
  it.each([
    [0, '0'],
    [0.01234, '0.012'],
    [1.005, '1.00'],
    [12.34, '12.3'],
    [1234567.8, '1,234,568'],
    [NaN, '–'],
  ])('returns for %s the text %s', (value, shown) => expect(round(value)).toBe(shown));
});

describe('tables', () => {
  it('show figure, ceiling, ratio and target, and mark missed targets', () => {
    const against = { what: 'no-op GET', figure: spreading(100, 0.02) };
    const lines = [
      line({ what: 'Read', figure: spreading(61, 0.1), against, target: { least: 1 } }),
      line({ what: 'Wait', figure: figure([8]), unit: 'ms', target: { most: 15 } }),
      line({ what: 'Free', figure: figure([8]) }),
    ];
    expect(table(lines).split('\n').slice(2)).toEqual([
      '| Read | 61.0 /s ±10 % | no-op GET: 100 ±2 % | 0.61 | ≥ 1 ×: **missed** |',
      '| Wait | 8.00 ms ±0 % |  |  | ≤ 15 |',
      '| Free | 8.00 /s ±0 % |  |  |  |',
    ]);
  });

  it('add up the processor time of a request', () => {
    expect(costTable([cost('Create', 120, 60)]).split('\n')[2]).toBe(
      '| Create | 120 ±0 % | 60.0 ±0 % | 30.0 ±0 % | 210 | 8,333 /s |',
    );
  });

  it('show the cores for a rate at a load of 70 %', () => {
    const sized = sizingTable([{ ...cost('Create', 140, 70), id: 'create' }, cost('no-op-get', 1, 1)]);
    expect(sized.split('\n').slice(2)).toEqual(['| Create | 5,000 /s | 10,000 /s | 2.00 | 1.00 |']);
  });
});

describe('comparison', () => {
  const rate = (value: number, spread = 0.01): Line =>
    line({ figure: spreading(value, spread), against: { what: 'no-op', figure: spreading(100, 0.01) } });
  const verdictOf = (a: Line, b: Line): string | undefined => comparison(run([a]), run([b])).split('\n')[2];

  it('rates runs as better or worse by their ratio to the ceiling', () => {
    expect(verdictOf(rate(50), rate(60))).toContain('| 0.50 | 0.60 | 20 % | **better** |');
    expect(verdictOf(rate(60), rate(50))).toContain('| **worse** |');
    // Twice as fast a machine changes no ratio.
    const onAnother = line({ figure: spreading(100, 0.01), against: { what: 'no-op', figure: spreading(200, 0.01) } });
    expect(verdictOf(rate(50), onAnother)).toContain('| 0 % | the same within the spread');
  });

  it('rates lower values as better if the target is an upper limit or the unit is no rate', () => {
    const latency = (ms: number, target?: Line['target']): Line =>
      line({ figure: spreading(ms, 0.01), unit: 'ms', ...(target && { target }) });
    expect(verdictOf(latency(10, { most: 15 }), latency(5, { most: 15 }))).toContain('**better**');
    expect(verdictOf(latency(10), latency(20))).toContain('**worse**');
  });

  it('rates a difference within the combined spreads as the same', () => {
    expect(verdictOf(rate(50, 0.2), rate(60, 0.1))).toContain('the same within the spread of 22 %');
  });

  it('rates a small difference between single repetitions as the same', () => {
    const once = (value: number): Line => line({ figure: figure([value]) });
    expect(verdictOf(once(100), once(104))).toContain('the same within the spread of 5 %');
    expect(verdictOf(once(100), once(106))).toContain('**better**');
  });

  it('reports figures as not comparable if the ceiling is 0', () => {
    const none = line({ figure: figure([1]), against: { what: 'no-op', figure: figure([0]) } });
    expect(verdictOf(none, none)).toContain('not comparable');
  });

  it('compares processor times relative to the no-op of their own run', () => {
    const a = run([], { costs: [cost('no-op-get', 50, 0), cost('create', 200, 100)] });
    const b = run([], { costs: [cost('no-op-get', 100, 0), cost('create', 200, 200)] });
    const rows = comparison(a, b).split('\n').slice(2);
    expect(rows).toEqual([
      '| create: gateway : a no-op GET | 4.00 | 2.00 | -50 % | **better** |',
      '| create: PostgreSQL : a no-op GET | 2.00 | 2.00 | 0 % | the same within the spread of 5 % |',
    ]);
  });

  it('names lines of only one run, quick runs, and different machines', () => {
    const text = comparison(
      run([line({ id: 'a', what: 'A' })]),
      run([line({ id: 'b', what: 'B' })], { quick: true, machine: { ...run([]).machine, cores: 8 } }),
    );
    expect(text).toContain('Only in the first: A.');
    expect(text).toContain('Only in the second: B.');
    expect(text).toContain('a quick run');
    expect(text).toContain('The machines differ: CPU, 2 cores; CPU, 8 cores.');
  });
});

describe('plots', () => {
  it('escape their texts and draw nothing outside of their width', () => {
    const target = line({ what: 'a < b & c', figure: figure([1000]), target: { least: 1 } });
    const curve = {
      id: 'c',
      title: 'Curve',
      x: { name: 'size', scale: 'log' as const },
      y: 'rate',
      series: [{ name: 'one', points: [1, 1000, 100_000].map((x) => ({ x, y: 5 })) }],
    };
    for (const svg of [targetPlot([target]), costPlot([cost('a < b & c', NaN, 5)]), curvePlot(curve)]) {
      expect(svg).not.toMatch(/a < b|b & c|NaN|Infinity/);
      const width = Number(/width="(\d+)"/.exec(svg)?.[1]);
      const xs = [...svg.matchAll(/ c?x="([\d.-]+)"/g)].map(([, x]) => Number(x));
      expect(Math.min(...xs)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...xs)).toBeLessThan(width);
    }
  });
});

it('profileTable lists each area once by descending time, with totals', () => {
  const rows = profileTable([
    { what: 'Read', us: { Log: 10, HTTP: 30 } },
    { what: 'Create', us: { HTTP: 30, Parse: 90 } },
  ]).split('\n');
  expect(rows.slice(2)).toEqual([
    '| Parse | 0 (0 %) | 90.0 (75 %) |',
    '| HTTP | 30.0 (75 %) | 30.0 (25 %) |',
    '| Log | 10.0 (25 %) | 0 (0 %) |',
    '| All | 40.0 | 120 |',
  ]);
});
