import { createLogger } from '@iss/platform';
import { waitFor } from '../../../../tools/testing/wait-for';
import { RetentionService } from './retention.service';

/** Deletes with each kind of row what a store would: `left` rows, in batches. Returns the calls and the line of the result. */
async function deletedWith(retentionDays: number, left: Record<string, number>) {
  const calls: unknown[][] = [];
  const lines: string[] = [];
  const take =
    (name: string) =>
    async (...given: number[]): Promise<number> => {
      calls.push([name, ...given]);
      const batch = Math.min(left[name] ?? 0, given.at(-1) ?? 0);
      left[name] = (left[name] ?? 0) - batch;
      return batch;
    };
  const logger = createLogger({ name: 'test', level: 'info' }, { write: (line: string) => lines.push(line) });
  const service = new RetentionService(
    {
      deleteDeliveries: take('deliveries'),
      deleteEvents: async (days, { limit, after }) => {
        calls.push(['events', days, after]);
        const deleted = await take('event rows')(limit);
        return { deleted, next: (left['event rows'] ?? 0) > 0 ? [calls.length] : null };
      },
      deleteRateWindows: take('windows'),
      deleteOffers: take('offers'),
      deletePresentationRequests: take('requests'),
    },
    { deleteExpired: take('keys') },
    logger,
    { retentionDays },
  );
  service.start();
  await waitFor(() => calls.some(([name]) => name === 'requests'));
  await service.stop();
  return { calls, lines };
}

it('deletes all rows whose retention has ended, in batches, deliveries before their events', async () => {
  const { calls, lines } = await deletedWith(30, { deliveries: 500, 'event rows': 501, keys: 1, offers: 0 });
  expect(calls).toEqual([
    ['deliveries', 30, 500],
    ['deliveries', 30, 500],
    ['events', 30, null],
    ['event rows', 500],
    ['events', 30, [4]],
    ['event rows', 500],
    ['keys', 500],
    ['windows', 500],
    ['offers', 500],
    ['requests', 500],
  ]);
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    {
      deleted: {
        ...{ deliveries: 500, events: 501, idempotency_keys: 1 },
        ...{ rate_windows: 0, credential_offers: 0, presentation_requests: 0 },
      },
    },
  ]);
});

it('keeps deliveries and events forever with a retention of 0 days, and logs nothing without deletions', async () => {
  const { calls, lines } = await deletedWith(0, { deliveries: 5, 'event rows': 5 });
  expect(calls.map(([name]) => name)).toEqual(['keys', 'windows', 'offers', 'requests']);
  expect(lines).toEqual([]);
});
