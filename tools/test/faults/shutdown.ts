import { randomUUID } from 'node:crypto';
import { requireAcknowledged, requireEveryEvent, requireWholeHistory } from '../../testing/history.ts';
import type { Answer, Product } from '../../testing/product.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { type Scene, scenario } from './scene.ts';

/** What the product of these tests is given. */
export const SHUTDOWN_TIMEOUT_MS = 8_000;
const MARGIN_MS = 5_000;

const WAITING = `
  SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'api-gateway'`;

/** SIGTERM: what has begun is finished, and the process ends well within the time it was given. */
export function shutdown(product: () => Product): void {
  scenario('a gateway that is told to stop answers what it has begun', product, async (scene) => {
    const [tenant, subscriptions] = await scene.tenant('drained');
    const [gateway] = scene.product.gateways;
    if (gateway === undefined) throw new Error('There is no gateway');
    const lock = await scene.product.connect();
    scene.afterwards(() => lock.end());
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE outbox_events IN EXCLUSIVE MODE');
    const asked: Promise<Answer>[] = [];
    for (let count = 1; count <= 3; count += 1) {
      asked.push(tenant.create(tenant.owner, `begun-${count}`, gateway));
      const isWaiting = async (): Promise<boolean> =>
        Number((await scene.product.query(WAITING))[0]?.['count']) >= count;
      await waitFor(isWaiting, { what: `request ${count} to reach PostgreSQL` });
    }
    const ended = gateway.terminate();
    scene.afterwards(() => gateway.start());
    await waitFor(
      () =>
        fetch(`${gateway.url}/health`).then(
          () => false,
          () => true,
        ),
      {
        what: `${gateway.name} to take no more connections`,
      },
    );
    await lock.query('COMMIT');
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(await ended).toMatchObject({ how: 'exit code 0' });
    await requireEveryEvent(scene.product, tenant, subscriptions);
  });

  scenario('processes that are told to stop under load end by themselves and lose nothing', product, stopUnderLoad);
}

/** Closing a queue may never return while Redis is down. */
export function shutdownWithoutRedis(product: () => Product): void {
  scenario(
    'processes that are told to stop while Redis is away end by themselves and lose nothing',
    product,
    async (scene) => {
      const { redis } = scene.product;
      scene.afterwards(async () => redis?.start());
      await stopUnderLoad(scene, async () => redis?.stop('immediately'));
    },
  );
}

async function stopUnderLoad(scene: Scene, before = async (): Promise<void> => undefined): Promise<void> {
  const { product } = scene;
  const [tenant, subscriptions] = await scene.tenant(`ended-${randomUUID()}`);
  // Slow enough that attempts are under way, and one that never answers.
  subscriptions.forEach(({ receiver }) => receiver.always({ status: 204, afterMs: 200 }));
  const hanging = await scene.subscribe(tenant);
  hanging.receiver.always('hang');
  const writing = scene.writing(tenant);
  await before();
  await waitFor(() => hanging.receiver.requests.length > 0 && writing.acknowledged.size > 20, {
    deadlineMs: 30_000,
    what: 'load',
  });
  const victims = [product.gateways[0], product.workers[0]].filter((victim) => victim !== undefined);
  for (const victim of victims) {
    const { how, tookMs } = await victim.terminate();
    scene.afterwards(() => victim.start());
    expect({ name: victim.name, how }).toEqual({ name: victim.name, how: 'exit code 0' });
    expect(tookMs).toBeLessThan(SHUTDOWN_TIMEOUT_MS + MARGIN_MS);
  }
  for (const victim of victims) await victim.start();
  await writing.stop();
  hanging.receiver.always({ status: 204 });
  await requireAcknowledged(product, tenant, writing.acknowledged);
  await requireWholeHistory(product, tenant);
  await requireEveryEvent(product, tenant, [...subscriptions, hanging]);
}
