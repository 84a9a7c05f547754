import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import {
  newWebhookSecret,
  secretFingerprint,
  signDelivery,
  verifyWebhook,
  WebhookVerificationError,
} from './signature';

const body = Buffer.from(
  JSON.stringify({ id: 'evt_1', type: 'webhook.test', created_at: '2026-01-31T12:00:00Z', tenant_id: 'é😀', data: {} }),
);
const nowSeconds = 1_769_860_800;
const secret = newWebhookSecret();
const headers = signDelivery({ secrets: [secret], id: 'evt_1', timestampSeconds: nowSeconds, body });

function reasonOf(change: Partial<Parameters<typeof verifyWebhook>[0]>): string {
  try {
    verifyWebhook({ secret, headers, body, nowSeconds, ...change });
    return 'accepted';
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason;
    throw error;
  }
}

describe('signDelivery', () => {
  it('returns the example of the Standard Webhooks specification', () => {
    const signed = signDelivery({
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampSeconds: 1614265330,
      body: '{"test": 2432232314}',
    });
    expect(signed['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('signs x-service-signature with the whole secret over the exact bytes', () => {
    expect(headers['x-service-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
    const asText = signDelivery({
      secrets: [secret],
      id: 'evt_1',
      timestampSeconds: nowSeconds,
      body: body.toString(),
    });
    expect(asText).toEqual(headers);
  });

  it('signs with all secrets of a rotation, and x-service-signature with the current one', () => {
    const old = newWebhookSecret();
    const both = signDelivery({ secrets: [secret, old], id: 'evt_1', timestampSeconds: nowSeconds, body });
    expect(both['x-service-signature']).toBe(headers['x-service-signature']);
    expect(both['webhook-signature'].split(' ')).toHaveLength(2);
    expect(reasonOf({ headers: both })).toBe('accepted');
    expect(reasonOf({ headers: both, secret: old })).toBe('accepted');
  });

  it('refuses to sign without a valid secret', () => {
    for (const secrets of [[], [''], ['whsec_'], ['plain']]) {
      expect(() => signDelivery({ secrets, id: 'evt_1', timestampSeconds: 0, body })).toThrow(RangeError);
    }
  });
});

describe('verifyWebhook', () => {
  it('returns the event for headers in any case or form', () => {
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    for (const form of [headers, upper, new Headers(headers)]) {
      expect(verifyWebhook({ secret, headers: form, body, nowSeconds })).toMatchObject({
        id: 'evt_1',
        type: 'webhook.test',
      });
    }
  });

  it('uses the current time by default', () => {
    const fresh = signDelivery({ secrets: [secret], id: 'evt_1', timestampSeconds: Date.now() / 1000, body });
    expect(verifyWebhook({ secret, headers: fresh, body })).toMatchObject({ id: 'evt_1' });
    expect(() => verifyWebhook({ secret, headers: { ...headers, 'webhook-timestamp': '1' }, body })).toThrow(
      WebhookVerificationError,
    );
  });

  it('detects a change of any byte', () => {
    fc.assert(
      fc.property(fc.nat({ max: body.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, difference) => {
        const changed = Buffer.from(body);
        changed[at] = (changed[at] ?? 0) ^ difference;
        expect(reasonOf({ body: changed })).toBe('signature_mismatch');
      }),
    );
  });

  it.each([
    ['refuses another secret', { secret: newWebhookSecret() }, 'signature_mismatch'],
    ['refuses another id', { headers: { ...headers, 'webhook-id': 'evt_2' } }, 'signature_mismatch'],
    [
      'refuses another timestamp',
      { headers: { ...headers, 'webhook-timestamp': String(nowSeconds + 1) } },
      'signature_mismatch',
    ],
    ['refuses a replay after the tolerance', { nowSeconds: nowSeconds + 301 }, 'timestamp_out_of_range'],
    ['refuses a message from the future', { nowSeconds: nowSeconds - 301 }, 'timestamp_out_of_range'],
    ['accepts the last second of the tolerance', { nowSeconds: nowSeconds + 300 }, 'accepted'],
    [
      'accepts an older message with a longer tolerance',
      { nowSeconds: nowSeconds + 900, toleranceSeconds: 900 },
      'accepted',
    ],
    ['refuses a message without a signature', { headers: { ...headers, 'webhook-signature': '' } }, 'missing_header'],
    ['refuses a message without an id', { headers: { ...headers, 'webhook-id': undefined } }, 'missing_header'],
    ['refuses a malformed timestamp', { headers: { ...headers, 'webhook-timestamp': '1e9' } }, 'malformed_header'],
    ['refuses two ids', { headers: { ...headers, 'webhook-id': ['evt_1', 'evt_1'] } }, 'malformed_header'],
    [
      'refuses another signature version',
      { headers: { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1', 'v2') } },
      'signature_mismatch',
    ],
    [
      'refuses malformed signatures',
      { headers: { ...headers, 'webhook-signature': 'v1, v1,AA== v1 ,' } },
      'signature_mismatch',
    ],
  ])('%s', (_, change, reason) => expect(reasonOf(change)).toBe(reason));

  it.each([
    [{ secret: newWebhookSecret() }, 'No signature matches the body and this secret.'],
    [{ nowSeconds: nowSeconds + 301 }, 'webhook-timestamp is more than 300 s away from the current time.'],
    [{ headers: {} }, 'The request has no webhook-id.'],
    [{ headers: { ...headers, 'webhook-timestamp': '1e9' } }, 'webhook-timestamp is not a time in Unix seconds.'],
    [{ headers: { ...headers, 'webhook-id': ['a', 'b'] } }, 'The request has more than one webhook-id.'],
  ])('explains its refusal: case %#', (change, message) => {
    const refused = expect.objectContaining({ name: 'WebhookVerificationError', message });
    expect(() => verifyWebhook({ secret, headers, body, nowSeconds, ...change })).toThrow(refused);
  });

  it.each(['id', 'type', 'created_at', 'tenant_id', 'data'])('refuses a signed body without %s', (name) => {
    const other = Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), [name]: undefined }));
    const signed = signDelivery({ secrets: [secret], id: 'evt_1', timestampSeconds: nowSeconds, body: other });
    expect(() => verifyWebhook({ secret, headers: signed, body: other, nowSeconds })).toThrow(
      expect.objectContaining({ message: 'The signature is valid, but the body is not an event.' }),
    );
  });

  it.each(['', '[]', '{"id":1}', 'null', '1', '\ufeff{}'])('refuses the signed body %j', (text) => {
    const other = Buffer.from(text);
    const signed = signDelivery({ secrets: [secret], id: 'evt_1', timestampSeconds: nowSeconds, body: other });
    expect(reasonOf({ headers: signed, body: other })).toBe('malformed_body');
  });
});

describe('secrets', () => {
  it('are 32 random bytes, identified by their SHA-256', () => {
    expect(newWebhookSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newWebhookSecret()).not.toBe(newWebhookSecret());
    expect(secretFingerprint('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
