import { Registry } from 'prom-client';
import { LogWaiting, MAX_WAITING, MAX_WAITING_PER_PRINCIPAL } from './log-waiting';

/** Each tenant has its own founder. */
const founders = { of: async (tenantId: string) => `founder of ${tenantId}` };
const find = async () => ({ logIndex: 3 });

function open() {
  const registry = new Registry();
  const log = { size: 3 };
  const checkpoint = async () => ({ origin: 'log.example/test', size: log.size, note: '', signedAt: new Date() });
  const waiting = new LogWaiting(founders, { checkpoint }, registry);
  const of = (principalId: string, tenantId: string | null) => waiting.published({ principalId, tenantId }, find, 10);
  /** Waits until this number of requests waits. Each request first looks for its entry, and only then waits. */
  const waits = async (count: number): Promise<void> => {
    while (!(await registry.metrics()).includes(`log_requests_waiting ${count}\n`)) await Promise.resolve();
  };
  return { registry, log, waiting, of, waits };
}

it('LogWaiting limits and counts the waiting requests, and answers all when the log has grown', async () => {
  const { registry, log, waiting, of, waits } = open();
  const quarter = MAX_WAITING / 4;
  const first = Array.from({ length: quarter }, (_, index) => of(`p-${index}`, 'acme'));
  await waits(quarter);
  await expect(of('another', 'acme')).rejects.toMatchObject({
    code: 'not_logged_yet',
    message: expect.stringMatching(/many requests wait/),
  });
  const others = [of('q', 'beta'), of('r', null)];
  await waits(quarter + others.length);
  log.size = 4;
  for (const { entry, checkpoint: seen } of await Promise.all([...first, ...others])) {
    expect([entry.logIndex, seen.size]).toEqual([3, 4]);
  }
  expect(await registry.metrics()).toMatch(/log_requests_waiting 0\n/);
  const asked = waiting.published({ principalId: 'p', tenantId: null }, async () => ({ logIndex: 4 }), 0);
  await expect(asked).rejects.toMatchObject({ code: 'not_logged_yet' });
});

it('LogWaiting limits a principal across all tenants', async () => {
  const { log, of, waits } = open();
  const waiting = Array.from({ length: MAX_WAITING_PER_PRINCIPAL }, (_, index) => of('p', `tenant-${index}`));
  await waits(MAX_WAITING_PER_PRINCIPAL);
  await expect(of('p', 'more')).rejects.toMatchObject({ code: 'not_logged_yet' });
  log.size = 4;
  await Promise.all(waiting);
});
