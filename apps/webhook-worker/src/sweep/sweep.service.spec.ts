import type { Page, PageRequest, PendingDelivery } from '@iss/persistence';
import { createLogger } from '@iss/platform';
import { waitFor } from '../../../../tools/testing/wait-for';
import { SweepService } from './sweep.service';

const logger = createLogger({ name: 'spec', level: 'silent' });

/** Deliveries that nobody takes, as the store would page through them. */
function overdue(count: number) {
  const all: PendingDelivery[] = Array.from({ length: count }, (_, index) => ({
    deliveryId: `d${index}`,
    subscriptionId: 's',
    tenantId: 't',
  }));
  return async (_: number, { limit, after }: PageRequest): Promise<Page<PendingDelivery>> => {
    const start = after === null ? 0 : Number(after[0]);
    const end = start + limit;
    return { items: all.slice(start, end), next: end < all.length ? [end] : null };
  };
}

it('comes to every delivery that is overdue, though none of those before it is taken, and begins again', async () => {
  const offered: string[] = [];
  const sweep = new SweepService(
    { waiting: async () => [] },
    { overdue: overdue(2_500) },
    { fanOut: async () => undefined },
    { backlogged: () => [], offer: (some) => void offered.push(...some.map((one) => one.deliveryId)) },
    logger,
    { sweepIntervalMs: 1 },
  );
  sweep.start();
  await waitFor(() => offered.length >= 3_000);
  await sweep.stop();
  const firstRound = offered.slice(0, 2_500);
  expect(new Set(firstRound).size).toBe(2_500);
  expect(offered[2_500]).toBe('d0');
});

it('goes on after a failure', async () => {
  let calls = 0;
  const sweep = new SweepService(
    {
      waiting: async () => {
        calls += 1;
        throw new Error('the database is away');
      },
    },
    { overdue: overdue(0) },
    { fanOut: async () => undefined },
    { backlogged: () => [], offer: () => undefined },
    logger,
    { sweepIntervalMs: 1 },
  );
  sweep.start();
  await waitFor(() => calls >= 3);
  await sweep.stop();
});
