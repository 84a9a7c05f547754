import { createLogger } from '@iss/platform';
import { addJitter, Rounds } from './rounds';

let lines: string[];
let calls: number;
const logger = createLogger({ name: 'test', level: 'warn' }, { write: (line: string) => lines.push(line) });

beforeEach(() => {
  [lines, calls] = [[], 0];
  jest.useFakeTimers();
});
afterEach(() => jest.useRealTimers());

function roundsOf(work: (rounds: Rounds) => Promise<number | void>): Rounds {
  const counted = (rounds: Rounds): Promise<number | void> => {
    calls++;
    return work(rounds);
  };
  return new Rounds({ work: counted, pauseMs: 1_000, failure: 'It failed; retrying', logger });
}
const after = async (ms: number): Promise<number> => {
  await jest.advanceTimersByTimeAsync(ms);
  return calls;
};

it('works immediately and after each pause, or after the pause that the work returns', async () => {
  const rounds = roundsOf(async () => (calls === 2 ? 5_000 : undefined));
  rounds.start();
  expect([await after(0), await after(999), await after(1)]).toEqual([1, 1, 2]);
  expect([await after(4_999), await after(1)]).toEqual([2, 3]);
  await rounds.stop();
  expect(await after(60_000)).toBe(3);
});

it('repeats the work after a failure, and logs it', async () => {
  const rounds = roundsOf(() => Promise.reject(new Error('no database')));
  rounds.start();
  expect([await after(0), await after(999), await after(1)]).toEqual([1, 1, 2]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('It failed; retrying');
  await rounds.stop();
});

it('works again immediately when it is woken, even during work', async () => {
  let end = (): void => undefined;
  const rounds = roundsOf(() => new Promise((resolve) => (end = resolve)));
  rounds.wake();
  expect(await after(0)).toBe(0);
  rounds.start();
  await after(0);
  end();
  await after(500);
  rounds.wake();
  expect(await after(0)).toBe(2);
  rounds.wake();
  expect(await after(0)).toBe(2);
  end();
  expect(await after(0)).toBe(3);
  end();
  expect([await after(999), await after(1)]).toEqual([3, 4]);
  end();
  await rounds.stop();
});

it('stops after the current step', async () => {
  let end = (_isMore: boolean): void => undefined;
  let steps = 0;
  const rounds = roundsOf((own) =>
    own.repeat(() => {
      steps++;
      return new Promise((resolve) => (end = resolve));
    }),
  );
  rounds.start();
  await after(0);
  end(true);
  await after(0);
  expect([steps, rounds.isStopping]).toEqual([2, false]);
  let hasStopped = false;
  const stopping = rounds.stop().then(() => (hasStopped = true));
  await after(0);
  expect([hasStopped, rounds.isStopping]).toEqual([false, true]);
  end(true);
  await stopping;
  expect([await after(60_000), steps]).toEqual([1, 2]);
});

it('adds or subtracts up to a quarter of a pause', () => {
  const random = jest.spyOn(Math, 'random');
  const pauses = [0, 0.5, 1].map((value) => {
    random.mockReturnValue(value);
    return addJitter(1_000);
  });
  random.mockRestore();
  expect(pauses).toEqual([750, 1_000, 1_250]);
});
