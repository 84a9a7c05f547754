import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { figure } from './measure.ts';
import { load, store } from './report.ts';
import { type Performer, runParts } from './run-parts.ts';
import { type Outcome, partText, type Run, summary } from './run.ts';

const MACHINE: Run['machine'] = { cpu: 'CPU', cores: 2, memoryGiB: 8, node: 'v26', postgres: '18', redis: '7' };
const EMPTY: Run = {
  at: '2026-01-15T09:30:00.000Z',
  commit: 'abc',
  machine: { ...MACHINE, postgres: 'unknown', redis: 'unknown' },
  quick: true,
  parts: [],
  lines: [],
  costs: [],
  curves: [],
  profiles: [],
};

const lineOf = (id: string): Outcome => ({ lines: [{ id, what: id, figure: figure([1]), unit: '/s' }] });

/** Runs parts, each of which is a function, on performers that are numbered from 1. */
async function runOf(
  parts: Readonly<Record<string, () => Promise<Outcome>>>,
  { deadlineMs = 60_000, onPart }: { deadlineMs?: number; onPart?: (run: Run) => void } = {},
): Promise<{ run: Run; events: string[]; texts: string[] }> {
  const events: string[] = [];
  const texts: string[] = [];
  let performers = 0;
  let seconds = 0;
  const open = (): Performer => {
    const number = ++performers;
    return {
      async perform(part) {
        events.push(`${part} on ${number}`);
        const outcome = await parts[part]?.();
        return { outcome: outcome ?? { lines: [] }, machine: MACHINE };
      },
      end: async () => void events.push(`end ${number}`),
    };
  };
  const run = await runParts(EMPTY, Object.keys(parts), {
    open,
    deadlineMs,
    clock: () => 1000 * seconds++,
    afterPart(soFar, report, outcome) {
      texts.push(partText(report, outcome));
      onPart?.(soFar);
    },
  });
  return { run, events, texts };
}

describe('runParts', () => {
  it('runs all parts on one performer, ends it, and collects what they measured', async () => {
    const { run, events, texts } = await runOf({ a: async () => lineOf('A'), b: async () => lineOf('B') });
    expect(events).toEqual(['a on 1', 'b on 1', 'end 1']);
    expect(run.lines.map(({ id }) => id)).toEqual(['A', 'B']);
    expect(run.machine).toEqual(MACHINE);
    expect(run.parts).toEqual([
      { part: 'a', result: 'measured', seconds: 1, notes: [] },
      { part: 'b', result: 'measured', seconds: 1, notes: [] },
    ]);
    expect(texts[1]).toContain('## b (measured, 1 s)\n\n| Work |');
    expect(summary(run)).toBe('Parts: a 1 s, b 1 s (2 s in total)');
  });

  it('reports a failing part, and runs the next one on a new performer', async () => {
    const fails = async (): Promise<Outcome> => {
      throw new Error('The queue cannot be reached');
    };
    const { run, events, texts } = await runOf({ a: async () => lineOf('A'), b: fails, c: async () => lineOf('C') });
    expect(events).toEqual(['a on 1', 'b on 1', 'end 1', 'c on 2', 'end 2']);
    expect(run.lines.map(({ id }) => id)).toEqual(['A', 'C']);
    expect(run.parts.map(({ result }) => result)).toEqual(['measured', 'failed', 'measured']);
    expect(texts[1]).toBe('## b (failed, 1 s)\n\nfailed: b: The queue cannot be reached');
    expect(summary(run)).toBe('Parts: a 1 s, b 1 s, c 1 s (3 s in total)\nfailed: b: The queue cannot be reached');
  });

  it('opens no performer after the last part has failed', async () => {
    const { events } = await runOf({ a: () => Promise.reject(new Error('no')) });
    expect(events).toEqual(['a on 1', 'end 1']);
  });

  it('ends a part at its deadline and runs the next one', async () => {
    const never = (): Promise<Outcome> => new Promise(() => undefined);
    const { run, events } = await runOf({ a: never, b: async () => lineOf('B') }, { deadlineMs: 20 });
    expect(events).toEqual(['a on 1', 'end 1', 'b on 2', 'end 2']);
    expect(run.parts.map(({ result, notes }) => [result, ...notes])).toEqual([
      ['failed', 'The part took longer than 0.02 s.'],
      ['measured'],
    ]);
  });

  it('reports a part that measured nothing as skipped, and keeps its performer', async () => {
    const skips = async (): Promise<Outcome> => ({ lines: [], skipped: ['There is no Chromium. Install it.'] });
    const { run, events, texts } = await runOf({ a: skips, b: async () => lineOf('B') });
    expect(events).toEqual(['a on 1', 'b on 1', 'end 1']);
    expect(run.parts.map(({ result }) => result)).toEqual(['skipped', 'measured']);
    expect(texts[0]).toBe('## a (skipped, 1 s)\n\nskipped: a: There is no Chromium. Install it.');
  });

  it('keeps the measurements of a part that skipped others', async () => {
    const { run } = await runOf({ a: async () => ({ ...lineOf('A'), skipped: ['There is no Emmett.'] }) });
    expect(run.lines).toHaveLength(1);
    expect(run.parts).toEqual([{ part: 'a', result: 'measured', seconds: 1, notes: ['There is no Emmett.'] }]);
    expect(summary(run)).toBe('Parts: a 1 s (1 s in total)\nskipped: a: There is no Emmett.');
  });

  it('ends the performer when the results cannot be stored', async () => {
    const events: string[] = [];
    const running = runParts(EMPTY, ['a', 'b'], {
      open: () => ({
        perform: async (part) => {
          events.push(part);
          return { outcome: lineOf('A'), machine: MACHINE };
        },
        end: async () => void events.push('end'),
      }),
      deadlineMs: 60_000,
      clock: () => 0,
      afterPart: () => {
        throw new Error('The disk is full');
      },
    });
    await expect(running).rejects.toThrow('The disk is full');
    expect(events).toEqual(['a', 'end']);
  });
});

describe('the stored run', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bench-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('contains the results so far after each part', async () => {
    const file = join(folder, 'x.json');
    const stored: string[][] = [];
    const look = async (id: string): Promise<Outcome> => {
      stored.push(existsSync(file) ? load(file).parts.map(({ part, result }) => `${part} ${result}`) : []);
      return lineOf(id);
    };
    const { run } = await runOf(
      { a: () => look('A'), b: () => Promise.reject(new Error('no')), c: () => look('C') },
      { onPart: (soFar) => store(soFar, 'x', folder) },
    );
    expect(stored).toEqual([[], ['a measured', 'b failed']]);
    expect(load(file)).toEqual(run);
    expect(readdirSync(folder)).toEqual(['x.json']);
  });

  it('stays unchanged when the next run cannot be written', () => {
    const file = store(EMPTY, 'x', folder);
    expect(load(file)).toEqual(EMPTY);
    mkdirSync(`${file}.partial`);
    expect(() => store({ ...EMPTY, at: 'later' }, 'x', folder)).toThrow('EISDIR');
    expect(load(file)).toEqual(EMPTY);
  });
});
