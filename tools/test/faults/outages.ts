import { setTimeout as pause } from 'node:timers/promises';
import {
  letLeasesRunOut,
  requireAcknowledged,
  requireEveryEvent,
  requireWholeHistory,
  requireWokenByQueue,
} from '../../testing/history.ts';
import type { Answer, Outage, Product, RedisDependency } from '../../testing/product.ts';
import { countByStatus, textAt, WRITERS, type Writing } from '../../testing/tenant.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { type Scene, scenario } from './scene.ts';

const OUTAGE_MS = Number(process.env['FAULT_SECONDS'] ?? 5) * 1_000;
const OUTAGES: Record<Outage, string> = {
  properly: 'stopped properly',
  immediately: 'stopped immediately',
  hanging: 'hanging',
};
/** Half the timeout of a command to the queue. */
const NOT_WAITED_MS = 1_000;

/** Tests that writers do not wait for a missing Redis, that nothing is lost, and that Redis is used again once it is back. */
export function redisOutages(product: () => Product): void {
  scenario('no event is lost if Redis is flushed and runs out of memory during writes', product, async (scene) => {
    const [tenant, subscriptions] = await scene.tenant('flushed');
    const writing = scene.writing(tenant);
    const redis = requireRedis(scene);
    for (let flushes = 1; flushes <= 5; flushes += 1) {
      await untilWritten(writing, 20 * flushes);
      await redis.flush();
    }
    await redis.fill(true);
    await untilWritten(writing, 140);
    await writing.stop();
    expect(Object.keys(countByStatus(writing.answers))).toEqual(['200', '201']);
    // Redis is still full.
    await requireEveryEvent(scene.product, tenant, subscriptions);
    await redis.fill(false);
    await requireWokenByQueue(scene.product, tenant, subscriptions);
  });

  scenario('writers do not wait, and no event is lost, if Redis hangs and restarts empty', product, async (scene) => {
    const [tenant, subscriptions] = await scene.tenant('no-redis');
    const redis = requireRedis(scene);
    const writing = scene.writing(tenant);
    await untilWritten(writing, 10);
    const before = writing.answers.length;
    for (const how of ['hanging', 'immediately'] as const) {
      await redis.stop(how);
      await pause(OUTAGE_MS / 2);
    }
    await writing.stop();
    expect(Object.keys(countByStatus(writing.answers))).toEqual(['200', '201']);
    const times = writing.answers.slice(before).map(({ tookMs }) => tookMs);
    expect(times.sort((a, b) => a - b)[Math.floor(times.length / 2)]).toBeLessThan(NOT_WAITED_MS);
    // Redis is still stopped.
    await requireEveryEvent(scene.product, tenant, subscriptions);
    await requireReadiness(scene.product, 200, 'degraded');

    await redis.start();
    await requireReadiness(scene.product, 200, 'ok');
    await requireWokenByQueue(scene.product, tenant, subscriptions);
    await requireWholeHistory(scene.product, tenant);
  });
}

/** Tests that callers get 503 without PostgreSQL, that no acknowledged write is lost, and that all processes recover alone. */
export function postgresOutages(product: () => Product, ways: readonly Outage[]): void {
  for (const how of ways) {
    scenario(
      `callers get 503 while PostgreSQL is ${OUTAGES[how]}, and no acknowledged write is lost`,
      product,
      async (scene) => {
        const { postgres, gateways } = scene.product;
        const [tenant, subscriptions] = await scene.tenant(`stopped-${how}`);
        const writing = scene.writing(tenant);
        await untilWritten(writing, 20);
        await postgres.stop(how);
        const refused = (): Answer[] => writing.answers.filter(({ status }) => status === 503);
        await requireReadiness(scene.product, 503, undefined);
        for (const gateway of gateways) expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
        await waitFor(() => refused().length >= WRITERS, { what: 'requests that are refused' });
        await pause(OUTAGE_MS / 2);
        await postgres.start();
        const before = writing.acknowledged.size;
        await untilWritten(writing, before + 20);
        await requireReadiness(scene.product, 200, 'ok');
        await writing.stop();

        expect(Object.keys(countByStatus(writing.answers))).toEqual(['200', '201', '503']);
        for (const { headers, body } of refused()) {
          expect(textAt(body, 'error', 'code')).toBe('unavailable');
          expect(textAt(body, 'error', 'request_id')).toBe(headers.get('x-request-id'));
          expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        }
        await letLeasesRunOut(scene.product);
        await requireAcknowledged(scene.product, tenant, writing.acknowledged);
        await requireWholeHistory(scene.product, tenant);
        await requireEveryEvent(scene.product, tenant, subscriptions);
        await requireWokenByQueue(scene.product, tenant, subscriptions);
      },
    );
  }
}

function requireRedis({ product }: Scene): RedisDependency {
  if (product.redis === undefined) throw new Error('This product does not use Redis');
  return product.redis;
}

async function untilWritten(writing: Writing, count: number): Promise<void> {
  await waitFor(() => writing.acknowledged.size >= count, { what: `${count} writes` });
}

/** Waits until every process reports this status and this state of the queue; undefined accepts any state. */
async function requireReadiness(product: Product, status: number, queue: string | undefined): Promise<void> {
  for (const { name, url } of [...product.gateways, ...product.workers]) {
    let last = '';
    const answers = async (): Promise<boolean> => {
      const response = await fetch(`${url}/v1/ops/readiness`);
      last = await response.text();
      return (
        response.status === status &&
        (queue === undefined || textAt(JSON.parse(last), 'checks', 'queue', 'status') === queue)
      );
    };
    await waitFor(answers).catch(() => {
      throw new Error(`${name} is not at ${status} with queue ${queue}: ${last}`);
    });
  }
}
