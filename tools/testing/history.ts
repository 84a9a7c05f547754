import { randomUUID } from 'node:crypto';
import type { Product } from './product.ts';
import type { ProductProcess } from './product-process.ts';
import { signatureOf, type Subscription, type TestTenant, textAt } from './tenant.ts';
import { waitFor } from './wait-for.ts';

const SHOWN = 20;

/** SQL that finds every possible fault in the history of a tenant that had a subscription from the start. */
const FAULTS = `
  WITH own AS (
    SELECT n.*, s.owner_tenant_id FROM snapshots n LEFT JOIN subjects s USING (subject_key) WHERE n.tenant_id = $1
  ), events AS (
    SELECT event_id, snapshot_id FROM outbox_events
     WHERE tenant_id = $1 AND event_type = 'identity.snapshot.created'
  )
  SELECT 'snapshot without a subject of its tenant' AS fault, snapshot_id::text AS which
    FROM own WHERE owner_tenant_id IS DISTINCT FROM $1
  UNION ALL
  SELECT 'subject without a snapshot', subject_id FROM subjects s LEFT JOIN own n USING (subject_key)
   WHERE s.owner_tenant_id = $1 AND n.snapshot_id IS NULL
  UNION ALL
  SELECT 'versions with a gap', subject_key::text FROM own
   GROUP BY subject_key HAVING min(snapshot_version) <> 1 OR max(snapshot_version) <> count(*)
  UNION ALL
  SELECT 'not the hash of its envelope', snapshot_id::text FROM own
   WHERE envelope_hash IS DISTINCT FROM sha256(convert_to(envelope, 'UTF8'))
  UNION ALL
  SELECT 'not on the hash of its parent', c.snapshot_id::text
    FROM own c LEFT JOIN own p ON p.subject_key = c.subject_key AND p.snapshot_version = c.snapshot_version - 1
   WHERE c.prev_hash IS DISTINCT FROM p.envelope_hash
  UNION ALL
  SELECT 'snapshot with ' || count(event_id) || ' events', n.snapshot_id::text FROM own n LEFT JOIN events USING (snapshot_id)
   GROUP BY n.snapshot_id HAVING count(event_id) <> 1
  UNION ALL
  SELECT 'event without a snapshot', event_id::text FROM events LEFT JOIN own n USING (snapshot_id)
   WHERE n.snapshot_id IS NULL
  UNION ALL
  SELECT 'applied update without its snapshot', update_id::text
    FROM updates u LEFT JOIN own n ON n.snapshot_id = u.applied_snapshot_id AND n.subject_key = u.subject_key
                                  AND n.snapshot_version = u.base_snapshot_version + 1
   WHERE u.tenant_id = $1 AND (u.status = 'applied') <> (n.snapshot_id IS NOT NULL)
  UNION ALL
  SELECT 'later version without one applied update', n.snapshot_id::text
    FROM own n LEFT JOIN updates u ON u.applied_snapshot_id = n.snapshot_id
   WHERE n.snapshot_version > 1 GROUP BY n.snapshot_id HAVING count(u.update_id) <> 1
  UNION ALL
  SELECT 'base with several children', base_snapshot_id::text FROM updates
   WHERE tenant_id = $1 AND status = 'applied' GROUP BY base_snapshot_id HAVING count(*) > 1`;

/**
 * Requires that versions are contiguous and chained, nothing is incomplete, each snapshot has its event, and the usage figure
 * agrees. Returns the number of snapshots.
 */
export async function requireWholeHistory(product: Product, tenant: TestTenant): Promise<number> {
  const faults = await product.query<{ fault: string; which: string }>(FAULTS, [tenant.tenantId]);
  expect(faults).toEqual([]);
  const [row] = await product.query<{ snapshots: number }>(
    'SELECT count(*)::int AS snapshots FROM snapshots WHERE tenant_id = $1',
    [tenant.tenantId],
  );
  const { body } = await tenant.require(200, 'GET', `/v1/tenants/${tenant.tenantId}/usage`);
  const { usage } = Object.assign({ usage: new Array<{ snapshot_writes: number }>() }, body);
  expect(usage.reduce((sum, day) => sum + day.snapshot_writes, 0)).toBe(row?.snapshots);
  return row?.snapshots ?? 0;
}

/** Requires that each acknowledged write can be read with the acknowledged hash. */
export async function requireAcknowledged(
  product: Product,
  tenant: TestTenant,
  acknowledged: ReadonlyMap<string, string>,
): Promise<void> {
  const missing: string[] = [];
  const left = [...acknowledged];
  const read = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [snapshotId, hash] = next;
      const path = `/v1/tenants/${tenant.tenantId}/snapshots/${snapshotId}?verify=hash`;
      const { status, body } = await product.request(tenant.owner, 'GET', path);
      if (status !== 200 || textAt(body, 'envelope_hash') !== hash) missing.push(`${snapshotId}: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, read));
  expect(missing).toEqual([]);
}

/**
 * Requires that every event of the tenant reaches each receiver, signed, under its own id and always as the same bytes, and that
 * the delivery log agrees.
 */
export async function requireEveryEvent(
  product: Product,
  tenant: TestTenant,
  subscriptions: readonly Subscription[],
): Promise<void> {
  const events = await product.query<{ id: string; event_id: string }>(
    `SELECT 'evt_' || event_id AS id, event_id FROM outbox_events WHERE tenant_id = $1`,
    [tenant.tenantId],
  );
  for (const subscription of subscriptions) {
    const { receiver, subscriptionId } = subscription;
    const missing = (): typeof events => {
      const received = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
      return events.filter(({ id }) => !received.has(id));
    };
    await waitFor(() => missing().length === 0).catch(async () => {
      const lost = missing();
      const states = await statesOf(product, subscriptionId, lost.slice(0, SHOWN));
      const shown = states.map((state) => JSON.stringify(state)).join('\n');
      throw new Error(`${lost.length} of ${events.length} events did not reach ${subscriptionId}:\n${shown}`);
    });
    requireSound(subscription);
    await requireLogged(product, subscription, events.length);
  }
}

function requireSound({ receiver, secret }: Subscription): void {
  const bodies = new Map<string, string>();
  for (const { headers, body } of receiver.requests) {
    const text = body.toString();
    const { id }: { id: string } = JSON.parse(text);
    expect(headers['webhook-id']).toBe(id);
    expect(headers['x-service-signature']).toBe(signatureOf(secret, body));
    expect(text).toBe(bodies.get(id) ?? text);
    bodies.set(id, text);
  }
}

/** Waits for the records of the results, which follow the deliveries. */
async function requireLogged(product: Product, { subscriptionId }: Subscription, count: number): Promise<void> {
  const settled = async (): Promise<number> => {
    const [row] = await product.query<{ settled: number }>(
      `SELECT count(*)::int AS settled FROM deliveries d JOIN delivery_attempts a USING (delivery_id, attempt)
        WHERE d.subscription_id = $1 AND d.status = 'succeeded' AND d.finished_at IS NOT NULL AND d.lease_until IS NULL
          AND a.status_code BETWEEN 200 AND 299`,
      [subscriptionId.replace('wsub_', '')],
    );
    return row?.settled ?? 0;
  };
  await waitFor(async () => (await settled()) >= count).catch(async () => {
    const states = await product.query(
      `SELECT status, lease_until, count(*)::int, min(next_at) AS next_at, min(delivery_id::text) AS one
         FROM deliveries WHERE subscription_id = $1 GROUP BY 1, 2`,
      [subscriptionId.replace('wsub_', '')],
    );
    throw new Error(`${await settled()} of ${count} deliveries are logged as made: ${JSON.stringify(states)}`);
  });
}

function statesOf(product: Product, subscriptionId: string, events: { event_id: string }[]): Promise<object[]> {
  return product.query(
    `SELECT o.event_id, o.created_at, o.fanned_out_at, d.status, d.attempt, d.next_at, d.lease_until
       FROM outbox_events o LEFT JOIN deliveries d ON d.event_id = o.event_id AND d.subscription_id = $1
      WHERE o.event_id = ANY($2)`,
    [subscriptionId.replace('wsub_', ''), events.map(({ event_id }) => event_id)],
  );
}

/**
 * Ends the leases of killed workers, so that their deliveries are taken up again without waiting a minute. Skips those that a
 * worker is recording: waiting for them would be a deadlock where both lock several.
 */
export async function letLeasesRunOut(product: Product): Promise<void> {
  await product.query(
    `UPDATE deliveries SET lease_until = now()
      WHERE delivery_id IN (SELECT d.delivery_id FROM deliveries d WHERE d.lease_until IS NOT NULL FOR UPDATE SKIP LOCKED)`,
  );
}

/** The sweep ignores events younger than two seconds, so an earlier delivery was woken by the queue. */
const WOKEN_WITHIN_MS = 1_500;

/** Requires that every gateway and every worker use the queue, so that deliveries do not depend on the sweep. */
export async function requireWokenByQueue(
  product: Product,
  tenant: TestTenant,
  subscriptions: readonly Subscription[],
): Promise<void> {
  for (const gateway of product.gateways) {
    for (const worker of product.workers) {
      const others = product.workers.filter((other) => other !== worker);
      others.forEach((other) => other.pause());
      try {
        await waitFor(() => isWoken(tenant, subscriptions, gateway), {
          what: `${worker.name} to be woken by ${gateway.name}`,
        });
      } finally {
        others.forEach((other) => other.resume());
      }
    }
  }
}

async function isWoken(
  tenant: TestTenant,
  subscriptions: readonly Subscription[],
  gateway: ProductProcess,
): Promise<boolean> {
  const { status, body } = await tenant.create(tenant.owner, `s-${randomUUID()}`, gateway);
  if (status !== 201) throw new Error(`The write was answered with ${status}`);
  const snapshotId = textAt(body, 'snapshot_id');
  const hasArrived = (): boolean =>
    subscriptions.every(({ receiver }) => receiver.requests.some((request) => request.body.includes(snapshotId)));
  return waitFor(hasArrived, { deadlineMs: WOKEN_WITHIN_MS });
}
