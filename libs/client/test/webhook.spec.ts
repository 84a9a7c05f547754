import { buildEventBody, EVENT_TYPES, newWebhookSecret, signDelivery, TEST_EVENT_TYPE } from '@iss/domain';
import { verifyWebhook, type WebhookEvent } from '../src/index.ts';

const secret = newWebhookSecret();
const body = buildEventBody({
  eventId: '0199b2c4-8a10-7c3e-9a57-5d2f0c6b1e42',
  type: 'subject.erased',
  createdAt: new Date('2026-01-15T10:00:00Z'),
  tenantId: 'acme',
  data: {
    subject: { subject_type: 'organization', subject_id: 'ümlaut' },
    erasure_id: 'e',
    versions: [1],
    erased_at: '2026-01-15T10:00:00Z',
  },
});
const sentAt = 1_768_471_201;
const now = () => sentAt * 1000;
const sign = (changes: Partial<Parameters<typeof signDelivery>[0]> = {}) =>
  signDelivery({
    secrets: [secret],
    id: 'evt_0199b2c4-8a10-7c3e-9a57-5d2f0c6b1e42',
    timestampSeconds: sentAt,
    body,
    ...changes,
  });
const failing = (failure: string) => expect.objectContaining({ name: 'WebhookVerificationError', failure });

it('verifyWebhook accepts text and bytes, with headers in any form', async () => {
  const event = JSON.parse(body);
  const bytes = new TextEncoder().encode(body);
  expect(await verifyWebhook(body, sign(), secret, { now })).toEqual(event);
  expect(await verifyWebhook(bytes, new Headers(sign()), secret, { now })).toEqual(event);
  expect(await verifyWebhook(bytes.buffer, { ...sign(), other: undefined }, secret, { now })).toEqual(event);
});

it('verifyWebhook accepts both secrets during a rotation', async () => {
  const next = newWebhookSecret();
  const both = sign({ secrets: [next, secret] });
  await verifyWebhook(body, both, secret, { now });
  await verifyWebhook(body, both, next, { now });
  await verifyWebhook(body, sign(), [next, secret], { now });
});

it('verifyWebhook refuses invalid requests and names the failure', async () => {
  const changed = body.replace('acme', 'beta');
  await expect(verifyWebhook(changed, sign(), secret, { now })).rejects.toEqual(failing('signature'));
  await expect(verifyWebhook(body, sign(), newWebhookSecret(), { now })).rejects.toEqual(failing('signature'));
  await expect(verifyWebhook(body, { ...sign(), 'webhook-id': 'evt_2' }, secret, { now })).rejects.toEqual(
    failing('signature'),
  );
  await expect(
    verifyWebhook(body, { ...sign(), 'webhook-signature': 'v1,%%% v1, v2,AAAA' }, secret, { now }),
  ).rejects.toEqual(failing('signature'));
  await expect(verifyWebhook(body, {}, secret, { now })).rejects.toEqual(failing('missing_header'));
  await expect(verifyWebhook(body, { ...sign(), 'webhook-timestamp': 'now' }, secret, { now })).rejects.toEqual(
    failing('malformed_header'),
  );
  await expect(verifyWebhook('[]', sign({ body: '[]' }), secret, { now })).rejects.toEqual(failing('malformed_body'));
  await expect(verifyWebhook(body, sign(), 'whsec_', { now })).rejects.toThrow('whsec_');
});

it('verifyWebhook accepts a clock difference of up to five minutes', async () => {
  for (const [offSeconds, fits] of [
    [-301, false],
    [-299, true],
    [299, true],
    [301, false],
  ] as const) {
    const verified = verifyWebhook(body, sign(), secret, { now: () => (sentAt + offSeconds) * 1000 });
    if (fits) await verified;
    else await expect(verified).rejects.toEqual(failing('timestamp'));
  }
});

it('WebhookEvent has every event type of the service', () => {
  const known: Record<WebhookEvent['type'], true> = {
    'identity.snapshot.created': true,
    'shared.snapshot.created': true,
    'update.proposed': true,
    'update.applied': true,
    'update.withdrawn': true,
    'refresh_request.created': true,
    'refresh_request.fulfilled': true,
    'refresh_request.declined': true,
    'refresh_request.cancelled': true,
    'refresh_request.overdue': true,
    'refresh_request.expired': true,
    'evidence.revoked': true,
    'tenant.change_requested': true,
    'erasure.requested': true,
    'subject.erased': true,
    'grant.requested': true,
    'grant.created': true,
    'grant.changed': true,
    'grant.revoked': true,
    'grant.started': true,
    'grant.expiring': true,
    'grant.expired': true,
    'webhook.test': true,
  };
  expect(Object.keys(known).sort()).toEqual([...EVENT_TYPES, TEST_EVENT_TYPE].sort());
});
