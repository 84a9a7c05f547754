import { randomBytes } from 'node:crypto';
import { newWebhookSecret, verifyWebhook } from '@iss/domain';
import type { AttemptResult, DeliveryAttempt, PendingDelivery, Recorded } from '@iss/persistence';
import { createLogger, SecretBox } from '@iss/platform';
import { DeliveryFailure } from './delivery-failure';
import { DeliveryService } from './delivery.service';
import type { WebhookAnswer } from './webhook-client';

const PENDING: PendingDelivery = {
  ...{ deliveryId: 'd-1', subscriptionId: 's-1', tenantId: 'acme', founderId: 'alice' },
  targetHost: 'old.example',
};
const EVENT = { id: 'evt_1', type: 'identity.snapshot.created', created_at: '2026-01-15', tenant_id: 'acme', data: {} };
const secret = newWebhookSecret();
const secretBox = SecretBox.fromKeyRing(`test:${randomBytes(32).toString('base64')}`);
const ATTEMPT: DeliveryAttempt = {
  ...{ deliveryId: 'd-1', subscriptionId: 's-1', tenantId: 'acme' },
  ...{ eventId: '0f4b629f-0000-7000-8000-000000000001', eventType: 'identity.snapshot.created' },
  ...{ requestId: 'req-1', traceparent: null, body: JSON.stringify(EVENT) },
  ...{ attempt: 1, scheduledAttempt: 1, targetUrl: 'https://new.example/hooks', targetHost: 'new.example' },
  ...{ secretSealed: secretBox.seal(secret, 's-1'), previousSecretSealed: null },
};

let answer: () => Promise<WebhookAnswer>;
let recorded: Recorded;
let posted: Parameters<Parameters<typeof serviceWith>[0]['post']>[];
let results: AttemptResult[];
let checkpoint: string | null;
let lines: string[];
/** How often recording fails. */
let failures: number;
const wake = jest.fn();
const moved = jest.fn();
const metrics = { attempt: jest.fn(), delivered: jest.fn(), subscriptionDisabled: jest.fn() };

beforeEach(() => {
  answer = async () => ({ statusCode: 204, retryAfterMs: null });
  recorded = { isRecorded: true, disabledReason: null };
  [posted, results, lines, checkpoint, failures] = [[], [], [], null, 0];
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
  wake.mockReset().mockResolvedValue(undefined);
  for (const mock of [moved, ...Object.values(metrics)]) mock.mockReset();
});
afterEach(() => jest.restoreAllMocks());

function serviceWith(
  client: { post: (target: string, headers: Record<string, string>, body: string) => Promise<WebhookAnswer> },
  claim: () => Promise<DeliveryAttempt | null>,
): DeliveryService {
  const record = async (result: AttemptResult): Promise<Recorded> => {
    results.push(result);
    if (results.length <= failures) throw new Error('no database');
    return recorded;
  };
  return new DeliveryService(
    { claim, record },
    { wakeDelivery: wake },
    client,
    metrics,
    { deliveries: { moved } },
    { header: async () => checkpoint },
    createLogger({ name: 'test', level: 'info' }, { write: (line: string) => lines.push(line) }),
    { retryScheduleMs: [1_000, 5_000], secretBox, totalTimeoutMs: 1_000 },
  );
}

/** Makes one attempt, and waits until its result is recorded. */
async function deliver(change: Partial<DeliveryAttempt> = {}) {
  const post = async (...request: (typeof posted)[number]): Promise<WebhookAnswer> => {
    posted.push(request);
    return answer();
  };
  const service = serviceWith({ post }, async () => ({ ...ATTEMPT, ...change }));
  const outcome = await service.deliver(PENDING);
  await service.recorded();
  return outcome;
}

it('sends the body to the current target, signed, and records the success', async () => {
  checkpoint = 'newest';
  expect(await deliver()).toMatchObject({ kind: 'succeeded', targetHost: 'new.example' });
  const [[target = '', headers = {}, body = ''] = []] = posted;
  expect([target, body]).toEqual([ATTEMPT.targetUrl, ATTEMPT.body]);
  expect(headers).toMatchObject({ 'x-request-id': 'req-1', 'x-iss-log-checkpoint': 'newest' });
  expect(verifyWebhook({ secret, headers, body: Buffer.from(body) })).toEqual(EVENT);
  expect(results).toMatchObject([
    {
      deliveryId: 'd-1',
      attempt: 1,
      statusCode: 204,
      errorPhase: null,
      error: null,
      status: 'succeeded',
      retryInMs: null,
    },
  ]);
  expect(wake).not.toHaveBeenCalled();
  expect(metrics.attempt).toHaveBeenCalledWith('none', expect.any(Number));
  expect(metrics.delivered.mock.calls).toEqual([['succeeded']]);
  // When it claims the delivery, and when it has recorded the result.
  expect(moved).toHaveBeenCalledTimes(2);
});

it('sends no header without a value', async () => {
  await deliver({ requestId: null });
  const headers = posted[0]?.[1] ?? {};
  expect(Object.keys(headers).filter((name) => name === 'x-request-id' || name.startsWith('x-iss'))).toEqual([]);
});

it.each([
  [199, 'pending'],
  [200, 'succeeded'],
  [299, 'succeeded'],
  [300, 'pending'],
])('records after status %i: %s', async (statusCode, status) => {
  answer = async () => ({ statusCode, retryAfterMs: null });
  await deliver();
  expect(results[0]?.status).toBe(status);
});

it('adds a hint about redirects only to a redirect', async () => {
  for (const statusCode of [299, 300, 399, 400]) {
    answer = async () => ({ statusCode, retryAfterMs: null });
    await deliver();
  }
  expect(results.map(({ error }) => error?.includes('redirects') ?? null)).toEqual([null, true, true, false]);
});

it('wakes the retry at its time, at the target of the attempt', async () => {
  answer = async () => ({ statusCode: 503, retryAfterMs: null });
  expect(await deliver()).toMatchObject({ kind: 'failed' });
  expect(results).toMatchObject([{ status: 'pending', retryInMs: 1_000, errorPhase: 'status' }]);
  expect(wake.mock.calls).toEqual([[[{ ...PENDING, targetHost: 'new.example' }], 1_020]]);
  expect(metrics.attempt).toHaveBeenCalledWith('status', expect.any(Number));
});

it('waits as long as Retry-After says', async () => {
  answer = async () => ({ statusCode: 429, retryAfterMs: 60_000 });
  await deliver();
  expect([results[0]?.retryInMs, wake.mock.calls[0]?.[1]]).toEqual([60_000, 60_020]);
});

it('follows the schedule by the place of the attempt, which a redelivery restarts', async () => {
  answer = async () => ({ statusCode: 500, retryAfterMs: null });
  for (const scheduledAttempt of [1, 2, 3]) await deliver({ attempt: 10 + scheduledAttempt, scheduledAttempt });
  expect(results.map(({ attempt, status, retryInMs }) => [attempt, status, retryInMs])).toEqual([
    [11, 'pending', 1_000],
    [12, 'pending', 5_000],
    [13, 'dead', null],
  ]);
  expect(wake).toHaveBeenCalledTimes(2);
});

it('gives up after a 410', async () => {
  answer = async () => ({ statusCode: 410, retryAfterMs: null });
  await deliver();
  expect(results).toMatchObject([{ status: 'dead', statusCode: 410 }]);
});

it('wakes no retry for a subscription that it disabled', async () => {
  answer = async () => ({ statusCode: 500, retryAfterMs: null });
  recorded = { isRecorded: true, disabledReason: 'failing' };
  await deliver();
  expect(wake).not.toHaveBeenCalled();
  expect(metrics.subscriptionDisabled.mock.calls).toEqual([['failing']]);
  expect(lines.join('')).toMatch(/"disabled_reason":"failing".*Subscription disabled/);
});

it('counts and wakes nothing after the attempt lost the delivery', async () => {
  answer = async () => ({ statusCode: 500, retryAfterMs: null });
  recorded = { isRecorded: false, disabledReason: null };
  await deliver();
  expect([wake, metrics.delivered].map((mock) => mock.mock.calls)).toEqual([[], []]);
  expect(lines.join('')).toContain('no longer owns the delivery');
});

it.each<[string, Error, object]>([
  ['the proxy fails', new DeliveryFailure('proxy', 'No proxy.'), { errorPhase: 'proxy', error: 'No proxy.' }],
  ['something else fails', new Error('10.0.0.1'), { errorPhase: 'response', error: 'The request failed.' }],
])('retries if %s', async (_, error, expected) => {
  answer = () => Promise.reject(error);
  await deliver();
  expect(results).toMatchObject([{ status: 'pending', statusCode: null, ...expected }]);
  expect(lines.some((line) => line.includes('egress proxy'))).toBe(error instanceof DeliveryFailure);
});

it('records the result again after the database was unavailable', async () => {
  failures = 1;
  await deliver();
  expect(results.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  expect(metrics.delivered.mock.calls).toEqual([['succeeded']]);
});

it('leaves the retry to the sweep if the queue does not accept it', async () => {
  answer = async () => ({ statusCode: 500, retryAfterMs: null });
  wake.mockRejectedValue(new Error('no queue'));
  await deliver();
  expect(lines.join('')).toContain('The queue does not accept retries');
  expect(metrics.delivered.mock.calls).toEqual([['pending']]);
});

it.each<[string, () => Promise<null>, number]>([
  ['is not due', async () => null, 1],
  ['cannot be claimed', () => Promise.reject(new Error('no database')), 0],
])('sends nothing if the delivery %s', async (_, claim, moves) => {
  const post = jest.fn();
  expect(await serviceWith({ post }, claim).deliver(PENDING)).toEqual({ kind: 'nothing' });
  expect(post).not.toHaveBeenCalled();
  expect(moved).toHaveBeenCalledTimes(moves);
});

it('resolves recorded() only when the result of each attempt is recorded', async () => {
  const service = serviceWith({ post: () => answer() }, async () => ATTEMPT);
  answer = async () => ({ statusCode: 500, retryAfterMs: null });
  let isRecorded = false;
  let release = (): void => undefined;
  wake.mockReturnValueOnce(new Promise<void>((resolve) => (release = resolve)));
  wake.mockResolvedValue(undefined);
  await Promise.all([service.deliver(PENDING), service.deliver(PENDING)]);
  const waiting = service.recorded().then(() => (isRecorded = true));
  await new Promise((settled) => setImmediate(settled));
  expect(isRecorded).toBe(false);
  release();
  await waiting;
});
