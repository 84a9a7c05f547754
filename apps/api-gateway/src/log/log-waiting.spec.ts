import { Registry } from 'prom-client';
import { LogWaiting, MAX_WAITING } from './log-waiting';

it('lets so many wait and no more, counts them, and lets all go when the log has grown', async () => {
  const registry = new Registry();
  let size = 3;
  const checkpoint = async () => ({ origin: 'log.example/test', size, note: '', signedAt: new Date() });
  const log = new LogWaiting({ checkpoint }, registry);
  const find = async () => ({ logIndex: 3 });
  const waiting = Array.from({ length: MAX_WAITING }, () => log.published(find, 10));
  // Each asks first, and only then waits.
  while (!(await registry.metrics()).includes(`log_requests_waiting ${MAX_WAITING}\n`)) await Promise.resolve();
  await expect(log.published(find, 10)).rejects.toMatchObject({
    code: 'not_logged_yet',
    message: expect.stringMatching(/many wait/),
  });
  size = 4;
  for (const { entry, checkpoint: seen } of await Promise.all(waiting)) {
    expect([entry.logIndex, seen.size]).toEqual([3, 4]);
  }
  expect(await registry.metrics()).toMatch(/log_requests_waiting 0\n/);
  await expect(log.published(async () => ({ logIndex: 4 }), 0)).rejects.toMatchObject({ code: 'not_logged_yet' });
});
