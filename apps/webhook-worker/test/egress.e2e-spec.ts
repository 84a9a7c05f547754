import { statement } from '@iss/persistence';
import { type ConnectProxy, startConnectProxy } from '../../../tools/testing/connect-proxy';
import { type Receiver, startReceiver } from '../../../tools/testing/receiver';
import { waitFor } from '../../../tools/testing/wait-for';
import { startWorkers, type TestWorkers } from './worker';

const SUBSCRIPTION = statement<{ subscriptionId: string }, { status: string; failing: boolean }>(
  'test_failing',
  'SELECT status, failing_since IS NOT NULL AS failing FROM webhook_subscriptions WHERE subscription_id = :subscriptionId',
);

describe('a worker behind an egress proxy', () => {
  let workers: TestWorkers;
  let receiver: Receiver;
  let proxy: ConnectProxy;
  let worker: Awaited<ReturnType<TestWorkers['start']>>;

  beforeAll(async () => {
    [workers, receiver, proxy] = await Promise.all([startWorkers(), startReceiver(), startConnectProxy()]);
    worker = await workers.start({
      WEBHOOK_EGRESS_PROXY: proxy.url.replace('//', '//worker:hunter2@'),
      WEBHOOK_DISABLE_AFTER_MS: '1000',
      WEBHOOK_RETRY_SCHEDULE_MS: '700,700,100',
    });
  });

  afterAll(async () => {
    await workers?.close();
    await Promise.all([receiver?.stop(), proxy?.stop()]);
  });

  const egress = async (): Promise<unknown> => {
    const { checks }: { checks: Record<string, unknown> } = JSON.parse(
      await (await fetch(`${worker.url}/v1/ops/readiness`)).text(),
    );
    return checks['egress'];
  };

  it('delivers through the proxy, and does not blame receivers for failures of the proxy', async () => {
    // A tunnel that is there would be used again.
    receiver.always({ status: 204, headers: { connection: 'close' } });
    const { subscriptionId } = await workers.subscribe(receiver.url);
    const first = await workers.publish();
    await workers.settled(first.eventId, 'succeeded');
    expect(proxy.asked.map(({ authority }) => authority)).toEqual([new URL(receiver.url).host]);
    expect(await egress()).toEqual({ status: 'ok' });

    // For longer than a receiver may fail before its subscription is disabled.
    proxy.react(407);
    const kept = await workers.publish();
    const { attempts } = await workers.settled(kept.eventId, 'dead');
    expect(attempts).toEqual([1, 2, 3, 4].map((attempt) => ({ attempt, statusCode: null, errorPhase: 'proxy' })));
    expect(await workers.database.sql.run(SUBSCRIPTION, { subscriptionId })).toEqual([
      { status: 'active', failing: false },
    ]);
    await waitFor(async () => (JSON.stringify(await egress()).includes('degraded') ? true : null));
    expect((await fetch(`${worker.url}/v1/ops/readiness`)).status).toBe(200);
    expect(await worker.metrics.metrics()).toMatch(/webhook_attempt_duration_seconds_count\{[^}]*error_phase="proxy"/);
    const warnings = workers.logs.filter((line) => line.includes('Deliveries cannot pass the egress proxy'));
    expect(JSON.parse(warnings[0] ?? '')).toMatchObject({ err: { message: 'The egress proxy answered 407.' } });
    for (const secret of ['hunter2', Buffer.from('worker:hunter2').toString('base64')]) {
      expect(workers.logs.join('')).not.toContain(secret);
    }

    proxy.react(undefined);
    const last = await workers.publish();
    await workers.settled(last.eventId, 'succeeded');
    await waitFor(async () => JSON.stringify(await egress()) === JSON.stringify({ status: 'ok' }));
  });
});
