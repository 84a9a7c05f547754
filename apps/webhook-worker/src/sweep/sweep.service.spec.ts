import type { SearchBounds, OverdueDelivery, Page } from '@iss/persistence';
import { createLogger } from '@iss/platform';
import { waitFor } from '../../../../tools/testing/wait-for';
import { SweepService } from './sweep.service';

const logger = createLogger({ name: 'spec', level: 'silent' });

/** Returns unclaimed rows like a store: some of the rows that it examines, and where it continues. */
function left<Item>(all: readonly Item[]) {
  return async ({ rows, limit, after }: SearchBounds): Promise<Page<Item>> => {
    const start = after === null ? 0 : Number(after[0]);
    const end = Math.min(start + rows, all.length);
    return { items: all.slice(start, Math.min(end, start + limit)), next: end < all.length ? [end] : null };
  };
}

const deliveries = (count: number): OverdueDelivery[] =>
  Array.from({ length: count }, (_, index) => ({
    deliveryId: `d${index}`,
    subscriptionId: 's',
    tenantId: 't',
    founderId: 'f',
    targetHost: 'h',
    dueForMs: 0,
  }));
const events = (count: number): string[] => Array.from({ length: count }, (_, index) => `e${index}`);

it('offers all overdue work page by page, even if none is claimed, and then starts again', async () => {
  const [offered, stepped]: [string[], string[]] = [[], []];
  const sweep = new SweepService(
    { waiting: left(events(12_000)) },
    { overdue: left(deliveries(12_000)) },
    {
      step: async (eventIds) => {
        stepped.push(...eventIds);
        return [];
      },
    },
    { offer: (some) => void offered.push(...some.map((one) => one.deliveryId)) },
    logger,
    { sweepIntervalMs: 1 },
    { sweepEnded: () => undefined },
  );
  sweep.start();
  await waitFor(() => offered.length >= 4_000 && stepped.length >= 800);
  await sweep.stop();
  const starts = [0, 5_000, 10_000, 0];
  expect(starts.map((_, round) => offered[round * 1_000])).toEqual(starts.map((start) => `d${start}`));
  expect(starts.map((_, round) => stepped[round * 200])).toEqual(starts.map((start) => `e${start}`));
});

it('continues after a failure', async () => {
  let calls = 0;
  const sweep = new SweepService(
    {
      waiting: async () => {
        calls += 1;
        throw new Error('the database is away');
      },
    },
    { overdue: left([]) },
    { step: async () => [] },
    { offer: () => undefined },
    logger,
    { sweepIntervalMs: 1 },
    { sweepEnded: () => undefined },
  );
  sweep.start();
  await waitFor(() => calls >= 3);
  await sweep.stop();
});

it.each([
  ['it found events', 1, 0, 2],
  ['it found as many deliveries as it takes', 0, 1_000, 2],
  ['it found few deliveries', 0, 999, 1],
  ['it found nothing', 0, 0, 1],
])('sweeps again soon only if there may be more: %s', async (_, found, due, sweeps) => {
  jest.useFakeTimers();
  let ended = 0;
  const sweep = new SweepService(
    { waiting: async () => ({ items: ended === 0 ? events(found) : [], next: null }) },
    { overdue: async () => ({ items: ended === 0 ? deliveries(due) : [], next: null }) },
    { step: async () => [] },
    { offer: () => undefined },
    logger,
    { sweepIntervalMs: 60_000 },
    { sweepEnded: () => void ended++ },
  );
  sweep.start();
  await jest.advanceTimersByTimeAsync(1_000);
  await sweep.stop();
  jest.useRealTimers();
  expect(ended).toBe(sweeps);
});
