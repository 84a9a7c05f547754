import { createHmac, randomUUID } from 'node:crypto';
import { requireEveryEvent } from '../../testing/history.ts';
import type { Product } from '../../testing/product.ts';
import type { Reaction, ReceivedRequest } from '../../testing/receiver.ts';
import { countByStatus, signatureOf, type Subscription, type TestTenant, textAt } from '../../testing/tenant.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { scenario } from './scene.ts';

const EVENTS = 25;
/** The maximum number of attempts in flight to one subscription: two workers, four each. */
const IN_FLIGHT = 8;

/** Tests receivers that misbehave. */
export function receivers(product: () => Product): void {
  scenario('receivers that misbehave do not delay other receivers', product, async (scene) => {
    const [tenant, healthy] = await scene.tenant('crowded');
    const [neighbour, neighbours] = await scene.tenant('neighbour');
    const trap = await scene.receiver();
    const redirect = (status: number): Reaction => ({ status, headers: { location: `${trap.url}/elsewhere` } });
    /** Each reaction, and what the delivery log records for it. */
    const misbehaviours: [Reaction, { status_code: number | null; error_phase: string | null }][] = [
      ['hang', { status_code: null, error_phase: 'timeout' }],
      ['reset', { status_code: null, error_phase: 'response' }],
      ...[301, 302, 307, 308].map((status): (typeof misbehaviours)[number] => [
        redirect(status),
        { status_code: status, error_phase: 'status' },
      ]),
      [{ status: 410 }, { status_code: 410, error_phase: 'status' }],
      [
        { status: 429, headers: { 'retry-after': '1' } },
        { status_code: 429, error_phase: 'status' },
      ],
      [{ status: 503 }, { status_code: 503, error_phase: 'status' }],
      ['endless-body', { status_code: 200, error_phase: null }],
      ['slow-body', { status_code: 200, error_phase: null }],
    ];
    const bad: Subscription[] = [];
    for (const [reaction] of misbehaviours) {
      const subscription = await scene.subscribe(tenant);
      subscription.receiver.always(reaction);
      bad.push(subscription);
    }
    await publish(tenant, EVENTS);
    await publish(neighbour, EVENTS);
    await requireEveryEvent(scene.product, tenant, healthy);
    await requireEveryEvent(scene.product, neighbour, neighbours);

    for (const [index, [reaction, logged]] of misbehaviours.entries()) {
      const { subscriptionId } = bad[index] ?? { subscriptionId: '' };
      // Any attempt can time out on a busy machine, so unexpected timeouts are ignored.
      const attempts = (): Promise<object[]> =>
        scene.product.query(
          `SELECT DISTINCT a.status_code, a.error_phase FROM deliveries JOIN delivery_attempts a USING (delivery_id)
            WHERE subscription_id = $1 AND (a.error_phase IS DISTINCT FROM 'timeout' OR $2 = 'timeout')`,
          [uuidOf(subscriptionId), logged.error_phase],
        );
      const what = `the log of ${JSON.stringify(reaction)}`;
      await waitFor(async () => (await attempts()).length > 0, { what });
      expect({ reaction, logged: await attempts() }).toEqual({ reaction, logged: [logged] });
    }
    const subscriptionOf = async (status: number): Promise<Subscription> => {
      const at = misbehaviours.findIndex(([, { status_code: code }]) => code === status);
      const subscription = bad[at];
      if (subscription === undefined) throw new Error(`No receiver answers ${status}`);
      return subscription;
    };
    const gone = await subscriptionOf(410);
    const path = `/v1/webhook-subscriptions/${gone.subscriptionId}`;
    expect((await tenant.require(200, 'GET', path)).body).toMatchObject({
      webhook_subscription: { status: 'disabled', disabled_reason: 'gone', disabled_at: expect.any(String) },
    });
    // After an attempt that times out on a busy machine, another one starts.
    const timedOut = await scene.product.query(
      `SELECT FROM deliveries JOIN delivery_attempts USING (delivery_id) WHERE subscription_id = $1 AND error_phase = 'timeout'`,
      [uuidOf(gone.subscriptionId)],
    );
    expect(gone.receiver.requests.length).toBeLessThanOrEqual(IN_FLIGHT + timedOut.length);

    const { receiver: busy } = await subscriptionOf(429);
    const [first, second] = await waitFor(() => sameEvent(busy.requests), {
      what: 'a retry after 429',
    });
    expect(second.receivedAtMs - first.receivedAtMs).toBeGreaterThanOrEqual(1_000);

    for (const { subscriptionId } of bad) await disable(tenant, subscriptionId);
    for (const subscription of bad) await untilNothingWaits(scene.product, subscription);
    expect(trap.requests).toEqual([]);
  });
}

/** Tests subscriptions that change while deliveries to them are pending. */
export function changes(product: () => Product): void {
  scenario('a pending retry is signed with the secret at the time of the retry', product, async (scene) => {
    const [tenant, [subscription]] = await scene.tenant('rotated');
    if (subscription === undefined) throw new Error('There is no subscription');
    const { receiver, subscriptionId, secret } = subscription;
    const attemptsAround = async (
      rotate: () => Promise<string>,
    ): Promise<{ request: ReceivedRequest; current: string }> => {
      receiver.clear();
      // The secret must have changed before the retry, also on a busy machine.
      receiver.script({ status: 503, headers: { 'retry-after': '5' } });
      await publish(tenant, 1);
      await receiver.waitForRequests(1);
      const current = await rotate();
      const [, request] = await receiver.waitForRequests(2);
      if (request === undefined) throw new Error('There was no retry');
      return { request, current };
    };
    const rotate = async (body?: object): Promise<string> => {
      const path = `/v1/webhook-subscriptions/${subscriptionId}/rotate-secret`;
      return textAt((await tenant.require(200, 'POST', path, body)).body, 'secret');
    };
    const graceful = await attemptsAround(() => rotate({ grace_seconds: 60 }));
    expect(signaturesOf(graceful.request)).toEqual({
      service: signatureOf(graceful.current, graceful.request.body),
      standard: [graceful.current, secret].map((key) => standardSignature(key, graceful.request)),
    });
    const sudden = await attemptsAround(() => rotate());
    expect(signaturesOf(sudden.request)).toEqual({
      service: signatureOf(sudden.current, sudden.request.body),
      standard: [standardSignature(sudden.current, sudden.request)],
    });
  });

  scenario('disabling a subscription skips its pending deliveries, and a replay sends them', product, async (scene) => {
    const [tenant, [subscription]] = await scene.tenant('disabled');
    if (subscription === undefined) throw new Error('There is no subscription');
    const { receiver, subscriptionId } = subscription;
    const from = new Date().toISOString();
    receiver.always('hang');
    await publish(tenant, 2 * EVENTS);
    await receiver.waitForRequests(1);
    await disable(tenant, subscriptionId);
    const before = receiver.requests.length;
    receiver.always({ status: 204 });
    await untilNothingWaits(scene.product, subscription);
    expect(receiver.requests.length).toBeLessThanOrEqual(before + IN_FLIGHT);
    const delivered = async (status: string): Promise<number> => {
      const [row] = await scene.product.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM deliveries WHERE subscription_id = $1 AND status = $2',
        [uuidOf(subscriptionId), status],
      );
      return row?.count ?? 0;
    };
    const skipped = await delivered('skipped');
    expect(skipped + (await delivered('succeeded'))).toBe(2 * EVENTS);
    expect(skipped).toBeGreaterThanOrEqual(2 * EVENTS - 2 * IN_FLIGHT);

    const path = `/v1/webhook-subscriptions/${subscriptionId}`;
    await tenant.require(200, 'PATCH', path, { status: 'active' });
    const replayed = await tenant.require(202, 'POST', `${path}/deliveries/replay`, { from, status: 'skipped' });
    expect(replayed.body).toMatchObject({ count: skipped, has_more: false });
    await requireEveryEvent(scene.product, tenant, [subscription]);
  });
}

async function publish(tenant: TestTenant, count: number): Promise<void> {
  const creates = Array.from({ length: count }, () => tenant.create(tenant.owner, `s-${randomUUID()}`));
  expect(countByStatus(await Promise.all(creates))).toEqual({ 201: count });
}

async function disable(tenant: TestTenant, subscriptionId: string): Promise<void> {
  await tenant.require(200, 'PATCH', `/v1/webhook-subscriptions/${subscriptionId}`, { status: 'disabled' });
}

async function untilNothingWaits(product: Product, { subscriptionId }: Subscription): Promise<void> {
  const waiting = (): Promise<object[]> =>
    product.query(`SELECT * FROM deliveries WHERE subscription_id = $1 AND status = 'pending'`, [
      uuidOf(subscriptionId),
    ]);
  await waitFor(async () => (await waiting()).length === 0, {
    what: `the deliveries to ${subscriptionId} to be settled`,
  });
}

function uuidOf(subscriptionId: string): string {
  return subscriptionId.replace('wsub_', '');
}

/** Returns the first two attempts of one event. */
function sameEvent(requests: readonly ReceivedRequest[]): [ReceivedRequest, ReceivedRequest] | undefined {
  for (const request of requests) {
    const [first, second] = requests.filter(({ headers }) => headers['webhook-id'] === request.headers['webhook-id']);
    if (first !== undefined && second !== undefined) return [first, second];
  }
  return undefined;
}

function signaturesOf({ headers }: ReceivedRequest): { service: unknown; standard: string[] } {
  return { service: headers['x-service-signature'], standard: String(headers['webhook-signature']).split(' ') };
}

/** Computes the signature that standardwebhooks.com specifies, without code of the product. */
function standardSignature(secret: string, { headers, body }: ReceivedRequest): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body.toString()}`;
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}
