import { requireAcknowledged, requireEveryEvent, requireWholeHistory } from '../../testing/history.ts';
import type { Answer, Product } from '../../testing/product.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { scenario, SHUTDOWN_TIMEOUT_MS } from './scene.ts';

/** The process ends itself with exit code 1 after its timeout. The margin allows for a busy machine. */
const MARGIN_MS = 30_000;

const WAITING = `
  SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'api-gateway'`;

/** Sends SIGTERM to a gateway while it processes requests. */
export function drain(product: () => Product): void {
  scenario('a gateway answers its open requests after SIGTERM', product, async (scene) => {
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
    const isDeaf = (): Promise<boolean> =>
      fetch(`${gateway.url}/health`).then(
        () => false,
        () => true,
      );
    await waitFor(isDeaf, { what: `${gateway.name} to take no more connections` });
    await lock.query('COMMIT');
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(await ended).toMatchObject({ how: 'exit code 0' });
    await requireEveryEvent(scene.product, tenant, subscriptions);
  });
}

/** Sends SIGTERM under load. If the product uses Redis, repeats this without Redis, when closing a queue may never return. */
export function stops(product: () => Product): void {
  scenario('processes exit with 0 after SIGTERM under load, and nothing is lost', product, async (scene) => {
    const { gateways, workers, redis } = scene.product;
    const [tenant, subscriptions] = await scene.tenant('ended');
    // These receivers are slow enough that attempts are in flight. Another one never answers.
    subscriptions.forEach(({ receiver }) => receiver.always({ status: 204, afterMs: 200 }));
    const hanging = await scene.subscribe(tenant);
    hanging.receiver.always('hang');
    const writing = scene.writing(tenant);
    for (let round = 0; round < (redis === undefined ? 1 : 2); round += 1) {
      const [attempts, writes] = [hanging.receiver.requests.length, writing.acknowledged.size];
      if (round === 1) await redis?.stop('immediately');
      await waitFor(() => hanging.receiver.requests.length > attempts && writing.acknowledged.size > writes + 20, {
        what: 'load',
      });
      const pair = [gateways[round], workers[round]].filter((one) => one !== undefined);
      for (const [index, { how, tookMs }] of (await Promise.all(pair.map((one) => one.terminate()))).entries()) {
        expect({ name: pair[index]?.name, round, how }).toMatchObject({ how: 'exit code 0' });
        expect(tookMs).toBeLessThan(SHUTDOWN_TIMEOUT_MS + MARGIN_MS);
      }
      await Promise.all(pair.map((one) => one.start()));
    }
    await writing.stop();
    hanging.receiver.always({ status: 204 });
    await requireAcknowledged(scene.product, tenant, writing.acknowledged);
    await requireWholeHistory(scene.product, tenant);
    await requireEveryEvent(scene.product, tenant, [...subscriptions, hanging]);
  });
}
