import { DomainError } from '@iss/domain';
import { waitFor } from '../../../../tools/testing/wait-for';
import { Coalescer, type Outcome } from './coalescer';

/** A coalescer whose statements are answered by hand. */
function byHand(limits = { maxRows: 3, maxRunning: 1 }, keyOf?: (input: string) => string[]) {
  const batches: string[][] = [];
  const open: ((settle: () => readonly Outcome<string>[]) => void)[] = [];
  const coalescer = new Coalescer<string, string>(
    (inputs) => {
      batches.push([...inputs]);
      return new Promise((resolve, reject) =>
        open.push((settle) => {
          try {
            resolve(settle());
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        }),
      );
    },
    limits,
    keyOf,
  );
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const answer = async (settle = (): Outcome<string>[] => (batches.at(-1) ?? []).map((value) => ({ value }))) => {
    open.shift()?.(settle);
    await nextTurn();
  };
  return { coalescer, batches, answer, nextTurn };
}

afterEach(() => jest.useRealTimers());

it('sends what comes in one turn together, and what comes meanwhile in the next statement', async () => {
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

it('takes a row whose keys are the same', async () => {
  const { coalescer, batches, answer, nextTurn } = byHand({ maxRows: 3, maxRunning: 1 }, (input) => [input, input]);
  const result = coalescer.submit('a');
  await nextTurn();
  expect(batches).toEqual([['a']]);
  await answer();
  await expect(result).resolves.toBe('a');
});

it('keeps rows with one key apart', async () => {
  const { coalescer, batches, answer, nextTurn } = byHand({ maxRows: 3, maxRunning: 1 }, (input) => [input.charAt(0)]);
  const results = ['a1', 'a2', 'b1'].map((input) => coalescer.submit(input));
  await nextTurn();
  expect(batches).toEqual([['a1', 'b1']]);
  await answer();
  await answer();
  expect(batches).toEqual([['a1', 'b1'], ['a2']]);
  await expect(Promise.all(results)).resolves.toEqual(['a1', 'a2', 'b1']);
});

it('gives each row its own outcome', async () => {
  const { coalescer, answer, nextTurn } = byHand();
  const results = Promise.allSettled(['a', 'b'].map((input) => coalescer.submit(input)));
  await nextTurn();
  await answer(() => [{ value: 'a' }, { error: new Error('bad row') }]);
  await expect(results).resolves.toMatchObject([{ value: 'a' }, { reason: { message: 'bad row' } }]);
});

it('runs each row alone when the statement fails, so that a bad one does not fail its neighbours', async () => {
  const { coalescer, batches, answer, nextTurn } = byHand();
  const results = Promise.allSettled(['good', 'bad'].map((input) => coalescer.submit(input)));
  const fail = (): never => {
    throw new Error('refused');
  };
  await nextTurn();
  await answer(fail);
  await answer();
  await answer(fail);
  expect(batches).toEqual([['good', 'bad'], ['good'], ['bad']]);
  await expect(results).resolves.toMatchObject([{ value: 'good' }, { reason: { message: 'refused' } }]);
});

it('fails all rows when the database is unavailable: it may have kept them', async () => {
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

it('gives whoever waits too long a statement of its own, while fewer run than may', async () => {
  const { coalescer, batches, answer, nextTurn } = byHand({ maxRows: 6, maxRunning: 2 });
  const results = [coalescer.submit('slow')];
  await nextTurn();
  results.push(coalescer.submit('a'), coalescer.submit('b'));
  await nextTurn();
  expect(batches).toEqual([['slow']]);
  await waitFor(() => batches.length === 2, { what: 'the second statement' });
  expect(batches).toEqual([['slow'], ['a', 'b']]);
  await answer(() => [{ value: 'slow' }]);
  await answer();
  await expect(Promise.all(results)).resolves.toEqual(['slow', 'a', 'b']);
});

it('starts a further statement as soon as half of what it may hold waits, while fewer run than may', async () => {
  // Nobody's patience ends meanwhile, however slow the machine is.
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
