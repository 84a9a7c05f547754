import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type BatchResult, openBatch, sendBatch } from '../../testing/batch-stream.ts';
import { letLeasesRunOut, requireAcknowledged, requireEveryEvent, requireWholeHistory } from '../../testing/history.ts';
import type { Product } from '../../testing/product.ts';
import type { ProductProcess } from '../../testing/product-process.ts';
import { countByStatus, envelope, textAt } from '../../testing/tenant.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { anyOf, scenario } from './scene.ts';

const BURST = 150;
const WORKER_KILLS = 2;
/** Few by default, since each start takes two seconds of processor time. */
const GATEWAY_KILLS = Number(process.env['FAULT_KILLS'] ?? 2);
/** The number of lines in the batch. Half of them are sent before the kill. */
const LINES = 300;

/** Kills workers with SIGKILL at random moments in a burst of events, and restarts them. */
export function workerCrashes(product: () => Product): void {
  scenario('no event is lost if workers are killed during a burst', product, async (scene) => {
    const [tenant, subscriptions] = await scene.tenant('burst', { receivers: 2 });
    // Slow enough that attempts are in flight when a worker is killed.
    subscriptions.forEach(({ receiver }) => receiver.always({ status: 204, afterMs: 20 }));
    const received = (): number => subscriptions.reduce((sum, { receiver }) => sum + receiver.requests.length, 0);
    const creating = Promise.all(
      Array.from({ length: BURST }, async (_, index) => {
        await pause(index * 5);
        return tenant.create(tenant.owner, `s-${randomUUID()}`);
      }),
    );
    const { workers } = scene.product;
    for (let kills = 1; kills <= WORKER_KILLS; kills += 1) {
      const moment = Math.min(received() + 1 + anyOf(40), BURST);
      await waitFor(() => received() >= moment, { what: `${moment} requests` });
      const victims = kills === WORKER_KILLS ? workers : workers.filter((_, index) => index === kills % 2);
      await Promise.all(victims.map((worker) => worker.kill()));
      await Promise.all(victims.map((worker) => worker.start()));
    }
    expect(countByStatus(await creating)).toEqual({ 201: BURST });
    await letLeasesRunOut(scene.product);
    await requireEveryEvent(scene.product, tenant, subscriptions);
    expect(await requireWholeHistory(scene.product, tenant)).toBe(BURST);
  });
}

/** Kills gateways with SIGKILL at random moments under writes, and restarts them. */
export function gatewayCrashes(product: () => Product): void {
  scenario('killed gateways lose no acknowledged write and leave no partial one', product, async (scene) => {
    const [tenant, subscriptions] = await scene.tenant('killed', { editors: 3 });
    const writing = scene.writing(tenant);
    const killAgainAndAgain = async (gateway: ProductProcess): Promise<void> => {
      for (let kills = 0; kills < GATEWAY_KILLS / scene.product.gateways.length; kills += 1) {
        const before = writing.acknowledged.size;
        await waitFor(() => writing.acknowledged.size > before, { what: 'a write' });
        await pause(anyOf(100));
        await gateway.kill();
        await gateway.start();
      }
    };
    await Promise.all(scene.product.gateways.map(killAgainAndAgain));
    const isApplied = (): boolean => writing.answers.some(({ status }) => status === 200);
    await waitFor(isApplied, { what: 'an update that is applied' });
    await writing.stop();
    // Status 0 is a request that the kill cut off. Its write may have been committed.
    expect(countByStatus(writing.answers)).toEqual({
      0: expect.anything(),
      200: expect.anything(),
      201: expect.anything(),
    });
    await requireAcknowledged(scene.product, tenant, writing.acknowledged);
    const snapshots = await requireWholeHistory(scene.product, tenant);
    expect(snapshots).toBeGreaterThanOrEqual(writing.acknowledged.size);
    await requireEveryEvent(scene.product, tenant, subscriptions);
  });
}

/** Kills the gateway with SIGKILL while it stores a batch. The client then sends the whole batch again. */
export function brokenBatches(product: () => Product): void {
  scenario('a batch that is sent again after its gateway was killed stores nothing twice', product, async (scene) => {
    const [tenant, subscriptions] = await scene.tenant('batch');
    const [gateway] = scene.product.gateways;
    if (gateway === undefined) throw new Error('There is no gateway');
    const url = `${gateway.url}/v1/tenants/${tenant.tenantId}/entity-states/batch`;
    const headers = await scene.product.authorization(tenant.owner);
    const lines = Array.from({ length: LINES }, () => `${JSON.stringify(envelope(`s-${randomUUID()}`))}\n`);
    const moment = 1 + anyOf(LINES / 4);

    const broken = openBatch(url, headers);
    scene.afterwards(async () => broken.destroy());
    await broken.write(lines.slice(0, LINES / 2).join(''));
    const results: BatchResult[] = [];
    const receiving = (async () => {
      for await (const result of broken.results()) results.push(result);
    })();
    const ended = receiving.then(
      () => 'whole',
      () => 'broken',
    );
    await waitFor(() => results.length >= moment, { what: `${moment} results` });
    await gateway.kill();
    expect(await ended).toBe('broken');
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 201));
    await gateway.start();

    const again = await sendBatch(url, headers, lines.join(''));
    expect(again.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 1));
    const { 200: kept = 0, 201: added = 0, ...others } = countByStatus(again);
    expect({ lines: kept + added, others }).toEqual({ lines: LINES, others: {} });
    expect(added).toBeGreaterThanOrEqual(LINES / 2);
    // Lines that already had a result get the same result, with status 200.
    expect(again.slice(0, results.length)).toEqual(results.map((result) => ({ ...result, status: 200 })));
    const hashes = again.map((result) => [textAt(result, 'snapshot_id'), textAt(result, 'envelope_hash')] as const);
    await requireAcknowledged(scene.product, tenant, new Map(hashes));
    expect(await requireWholeHistory(scene.product, tenant)).toBe(LINES);
    await requireEveryEvent(scene.product, tenant, subscriptions);
  });
}
