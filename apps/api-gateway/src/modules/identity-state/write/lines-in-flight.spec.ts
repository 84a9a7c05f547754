import { DomainError } from '@iss/domain';
import { LinesInFlight } from './lines-in-flight';

type Settle = (outcome: number) => void;

/** Collects the outcomes as they are taken, one group at a time. */
async function all(inFlight: LinesInFlight<number>): Promise<number[]> {
  const outcomes: number[] = [];
  for await (const group of inFlight.outcomes()) outcomes.push(...group);
  return outcomes;
}

it('LinesInFlight returns outcomes in the order in which their lines began', async () => {
  const inFlight = new LinesInFlight<number>();
  const settles = Array.from({ length: 5 }, (): Settle => inFlight.begin(1));
  inFlight.endWith(Promise.resolve());
  const taken = all(inFlight);
  [3, 1, 4, 0, 2].forEach((place) => settles[place]?.(place));
  expect(await taken).toEqual([0, 1, 2, 3, 4]);
});

it('LinesInFlight has no room after 256 lines or 4 MiB, until outcomes are taken', async () => {
  for (const [count, bytes] of [
    [256, 1],
    [4, 1_048_576],
  ] as const) {
    const inFlight = new LinesInFlight<number>();
    const settles: Settle[] = [];
    while (inFlight.hasRoom(bytes)) settles.push(inFlight.begin(bytes));
    expect(settles).toHaveLength(count);
    let isWaiting = true;
    const room = inFlight.room(bytes).then(() => (isWaiting = false));
    const outcomes = inFlight.outcomes();
    const next = outcomes.next();
    settles[1]?.(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isWaiting).toBe(true);
    settles[0]?.(0);
    expect((await next).value).toEqual([0, 1]);
    await room;
  }
});

it('LinesInFlight has room for one line of any size', () => {
  expect(new LinesInFlight<number>().hasRoom(2 ** 30)).toBe(true);
});

it('LinesInFlight throws a read error after the last outcome', async () => {
  const inFlight = new LinesInFlight<number>();
  const settle = inFlight.begin(1);
  inFlight.endWith(Promise.reject(new Error('cut')));
  const outcomes = inFlight.outcomes();
  const first = outcomes.next();
  settle(7);
  expect((await first).value).toEqual([7]);
  await expect(outcomes.next()).rejects.toThrow('cut');
});

it('LinesInFlight still returns outcomes after stop, and ends the wait for room', async () => {
  const inFlight = new LinesInFlight<number>();
  const settles: Settle[] = [];
  while (inFlight.hasRoom(1)) settles.push(inFlight.begin(1));
  const room = inFlight.room(1);
  inFlight.stop(new DomainError('unavailable', 'stopped'));
  await room;
  expect(inFlight.isOver).toBe(true);
  const outcomes = inFlight.outcomes();
  const first = outcomes.next();
  settles.forEach((settle, place) => settle(place));
  expect((await first).value).toHaveLength(256);
  await expect(outcomes.next()).rejects.toThrow('stopped');
});
