import { DomainError } from '@iss/domain';
import { waitFor } from '../../../../tools/testing/wait-for';
import { Coalescer, LARGE_INPUT, type RowOutcome, SHARED_INPUT, type Shared } from './coalescer';
import { StatementGivenUp } from './db-errors';
import { LoneStatements } from './lone-statements';

type Settle = () => readonly RowOutcome<string>[];

/** Creates a coalescer whose statements the test answers. */
function byHand(settings: Partial<Shared<string, string>> = {}, maxLone = 2) {
  const batches: string[][] = [];
  const open = new Map<string[], (settle: Settle) => void>();
  const lone = new LoneStatements(maxLone);
  const coalescer = new Coalescer<string, string>({
    run: (inputs, isAlone) => {
      const batch = isAlone ? [...inputs, 'alone'] : [...inputs];
      batches.push(batch);
      return new Promise((resolve, reject) =>
        open.set(batch, (settle) => {
          try {
            resolve(settle());
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        }),
      );
    },
    maxRows: 3,
    maxRunning: 1,
    lone,
    ...settings,
  });
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  /** Settles the oldest running statement, or the one with this row. */
  const answer = async (settle?: Settle, row?: string) => {
    const [batch, end] =
      [...open].find(([rows]) => row === undefined || rows.includes(row)) ?? fail('no such statement runs');
    open.delete(batch);
    end(settle ?? (() => batch.filter((input) => input !== 'alone').map((value) => ({ value }))));
    await nextTurn();
  };
  const submit = (...inputs: string[]): Promise<string>[] => inputs.map((input) => coalescer.submit(input));
  return { coalescer, submit, batches, lone, answer, nextTurn };
}

const fail = (message: string): never => {
  throw new Error(message);
};
const refuse: Settle = () => fail('refused');
const giveUp: Settle = () => {
  throw new StatementGivenUp();
};
/** Inputs start with their owner: `a1`, `a2`, `b1`. */
const whoseOf = (input: string): string => input.charAt(0);

afterEach(() => jest.useRealTimers());

it('sends the rows of one turn together and later rows in the next statement', async () => {
  const { coalescer, batches, answer, nextTurn } = byHand();
  const results = ['a', 'b'].map((input) => coalescer.submit(input));
  await nextTurn();
  results.push(...['c', 'd', 'e', 'f'].map((input) => coalescer.submit(input)));
  await nextTurn();
  expect(batches).toEqual([['a', 'b']]);
  await answer();
  expect(batches).toEqual([
    ['a', 'b'],
    ['c', 'd', 'e'],
  ]);
  await answer();
  await answer();
  expect(batches).toEqual([['a', 'b'], ['c', 'd', 'e'], ['f']]);
  await expect(Promise.all(results)).resolves.toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

it('accepts a row that has the same key twice', async () => {
  const { coalescer, batches, answer, nextTurn } = byHand({ keysOf: (input) => [input, input] });
  const result = coalescer.submit('a');
  await nextTurn();
  expect(batches).toEqual([['a']]);
  await answer();
  await expect(result).resolves.toBe('a');
});

it('sends rows with a common key in separate statements', async () => {
  const { coalescer, batches, answer, nextTurn } = byHand({
    keysOf: (input) => [whoseOf(input)],
    whoseOf: (input) => input,
  });
  const results = ['a1', 'a2', 'b1'].map((input) => coalescer.submit(input));
  await nextTurn();
  expect(batches).toEqual([['a1', 'b1']]);
  await answer();
  await answer();
  expect(batches).toEqual([['a1', 'b1'], ['a2']]);
  await expect(Promise.all(results)).resolves.toEqual(['a1', 'a2', 'b1']);
});

it('returns a separate outcome for each row', async () => {
  const { coalescer, answer, nextTurn } = byHand();
  const results = Promise.allSettled(['a', 'b'].map((input) => coalescer.submit(input)));
  await nextTurn();
  await answer(() => [{ value: 'a' }, { error: new Error('bad row') }]);
  await expect(results).resolves.toMatchObject([{ value: 'a' }, { reason: { message: 'bad row' } }]);
});

it('runs each row alone when the statement fails, so that a bad row does not fail the others', async () => {
  const { submit, batches, answer, nextTurn } = byHand();
  const results = Promise.allSettled(submit('good', 'bad'));
  await nextTurn();
  await answer(refuse);
  expect(batches.slice(1)).toEqual([['good', 'alone']]);
  await answer();
  await answer(refuse);
  expect(batches).toEqual([
    ['good', 'bad'],
    ['good', 'alone'],
    ['bad', 'alone'],
  ]);
  await expect(results).resolves.toMatchObject([{ value: 'good' }, { reason: { message: 'refused' } }]);
});

it('does not retry a row that failed alone', async () => {
  const { submit, batches, answer, nextTurn } = byHand();
  const results = Promise.allSettled(submit('bad'));
  await nextTurn();
  await answer(refuse);
  expect(batches).toEqual([['bad']]);
  await expect(results).resolves.toMatchObject([{ reason: { message: 'refused' } }]);
});

it('retries each row of a timed-out statement alone, so that no row waits for a slow one', async () => {
  const { submit, batches, answer, nextTurn } = byHand({ whoseOf, maxRows: 4 }, 3);
  const [slow1, slow2, ...quick] = submit('s1', 's2', 'b1', 'c1');
  const failed = expect(slow1).rejects.toMatchObject({ code: 'unavailable' });
  await nextTurn();
  await answer(giveUp);
  await answer(undefined, 'b1');
  await answer(undefined, 'c1');
  await expect(Promise.all(quick)).resolves.toEqual(['b1', 'c1']);
  expect(batches.slice(1).sort()).toEqual([
    ['b1', 'alone'],
    ['c1', 'alone'],
    ['s1', 'alone'],
    ['s2', 'alone'],
  ]);
  await answer(giveUp, 's1');
  await failed;
  await answer(undefined, 's2');
  await expect(slow2).resolves.toBe('s2');
});

it('retries a single timed-out row once with the longer timeout', async () => {
  const { submit, batches, answer, nextTurn } = byHand();
  const [result] = submit('slow');
  await nextTurn();
  await answer(giveUp);
  await answer();
  expect(batches).toEqual([['slow'], ['slow', 'alone']]);
  await expect(result).resolves.toBe('slow');
});

it('runs an owner alone for as many rows as it made run alone for others', async () => {
  const { submit, batches, answer, nextTurn } = byHand({ whoseOf });
  const results = Promise.allSettled(submit('x1', 'b1', 'c1'));
  await nextTurn();
  await answer(refuse);
  await answer(refuse, 'x1');
  await answer(undefined, 'b1');
  await answer(undefined, 'c1');
  await expect(results).resolves.toMatchObject([{ status: 'rejected' }, { value: 'b1' }, { value: 'c1' }]);
  batches.length = 0;
  const later = submit('x2', 'b2', 'x3', 'x4');
  await nextTurn();
  expect(batches).toEqual([
    ['x2', 'alone'],
    ['b2', 'x4'],
  ]);
  await answer();
  await answer();
  await answer();
  await expect(Promise.all(later)).resolves.toEqual(['x2', 'b2', 'x3', 'x4']);
});

it('LoneStatements doubles the penalty of an owner that repeats this', async () => {
  const { lone } = byHand();
  const paid = (): number => {
    let rows = 0;
    while (lone.paysFor('x')) rows += 1;
    return rows;
  };
  const debts = [3, 3, 10, 0].map((strangers) => {
    lone.charge('x', strangers);
    return paid();
  });
  expect(debts).toEqual([3, 6, 12, 0]);
});

it('does not penalize an owner whose failed statement affected no other owner', async () => {
  const { submit, batches, answer, nextTurn } = byHand({ whoseOf });
  const results = Promise.allSettled(submit('x1', 'x2'));
  await nextTurn();
  await answer(refuse);
  await answer(refuse);
  await answer(refuse);
  await results;
  const [last] = submit('x3');
  await nextTurn();
  expect(batches.at(-1)).toEqual(['x3']);
  await answer();
  await expect(last).resolves.toBe('x3');
});

it('gives one owner at most half of a statement while others wait', async () => {
  const { submit, batches, answer, nextTurn } = byHand({ whoseOf, maxRows: 4 });
  const results = submit('a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'c1');
  await nextTurn();
  await answer();
  await answer();
  expect(batches).toEqual([
    ['a1', 'b1', 'c1', 'a2'],
    ['a3', 'a4', 'a5', 'a6'],
  ]);
  await expect(Promise.all(results)).resolves.toHaveLength(8);
});

it('runs each large input alone, and limits how many run concurrently', async () => {
  const { submit, batches, answer, nextTurn } = byHand({
    whoseOf,
    sizeOf: (input) => (input.startsWith('L') ? LARGE_INPUT + 1 : 1),
  });
  const results = submit('L1', 'a1', 'L2', 'L3');
  await nextTurn();
  expect(batches).toEqual([['L1', 'alone'], ['a1']]);
  for (let statement = 0; statement < 4; statement++) await answer();
  expect(batches).toHaveLength(4);
  await expect(Promise.all(results)).resolves.toHaveLength(4);
});

it("limits the total size of a statement's inputs", async () => {
  const { submit, batches, answer, nextTurn } = byHand({ whoseOf, sizeOf: () => LARGE_INPUT, maxRows: 32 });
  const most = SHARED_INPUT / LARGE_INPUT;
  const inputs = Array.from({ length: 2 * most }, (_, index) => `${'abcdefgh'.charAt(index)}1`);
  const results = submit(...inputs);
  await nextTurn();
  await answer();
  expect(batches).toEqual([inputs.slice(0, most), inputs.slice(most)]);
  await answer();
  await expect(Promise.all(results)).resolves.toEqual(inputs);
});

it('runs a row alone if its result is too large', async () => {
  const { submit, batches, answer, nextTurn } = byHand();
  const results = submit('large', 'small');
  await nextTurn();
  await answer(() => ['tooLarge', { value: 'small' }]);
  await expect(results[1]).resolves.toBe('small');
  await answer();
  expect(batches).toEqual([
    ['large', 'small'],
    ['large', 'alone'],
  ]);
  await expect(results[0]).resolves.toBe('large');
});

it('fails all rows when the database is unavailable, because it may have stored them', async () => {
  const { coalescer, batches, answer, nextTurn } = byHand();
  const results = Promise.allSettled(['a', 'b'].map((input) => coalescer.submit(input)));
  await nextTurn();
  await answer(() => {
    throw new DomainError('unavailable', 'gone');
  });
  expect(batches).toHaveLength(1);
  await expect(results).resolves.toMatchObject([
    { reason: { code: 'unavailable' } },
    { reason: { code: 'unavailable' } },
  ]);
});

it('starts another statement for rows that wait too long, up to the maximum', async () => {
  const { coalescer, batches, answer, nextTurn } = byHand({ maxRows: 6, maxRunning: 2 });
  const results = [coalescer.submit('slow')];
  await nextTurn();
  results.push(coalescer.submit('a'), coalescer.submit('b'));
  await waitFor(() => batches.length === 2, { what: 'the second statement' });
  expect(batches).toEqual([['slow'], ['a', 'b']]);
  await answer(() => [{ value: 'slow' }]);
  await answer();
  await expect(Promise.all(results)).resolves.toEqual(['slow', 'a', 'b']);
});

it('starts another statement when half of its maximum rows wait, up to the maximum number', async () => {
  // Fake timers, so that no patience ends meanwhile on a slow machine.
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  const { coalescer, batches, answer, nextTurn } = byHand({ maxRows: 4, maxRunning: 2 });
  const results = [coalescer.submit('first')];
  await nextTurn();
  for (const input of ['a', 'b', 'c', 'd']) {
    results.push(coalescer.submit(input));
    await nextTurn();
  }
  expect(batches).toEqual([['first'], ['a', 'b']]);
  await answer(() => [{ value: 'first' }]);
  expect(batches).toEqual([['first'], ['a', 'b'], ['c', 'd']]);
  await answer(() => [{ value: 'a' }, { value: 'b' }]);
  await answer();
  await expect(Promise.all(results)).resolves.toEqual(['first', 'a', 'b', 'c', 'd']);
});

it('derives the threshold for another statement from recent statements', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
  const { submit, batches, answer, nextTurn } = byHand({ maxRows: 64, maxRunning: 2 });
  const rows = (count: number): string[] => Array.from({ length: count }, (_, index) => `row ${index}`);
  const inFlight = async (...waves: number[]): Promise<number[]> => {
    batches.length = 0;
    const results = [];
    for (const count of waves) {
      results.push(...submit(...rows(count)));
      await nextTurn();
    }
    const held = batches.map((batch) => batch.length);
    let areAnswered = false;
    const all = Promise.all(results).then(() => (areAnswered = true));
    while (!areAnswered) await answer();
    await all;
    return held;
  };
  // With small statements, eight rows are enough.
  for (let statement = 0; statement < 30; statement++) await inFlight(4);
  expect(await inFlight(1, 7)).toEqual([1]);
  expect(await inFlight(1, 8)).toEqual([1, 8]);
  // With large statements, half of their usual rows are enough.
  for (let statement = 0; statement < 60; statement++) await inFlight(60);
  expect(await inFlight(1, 24)).toEqual([1]);
});
