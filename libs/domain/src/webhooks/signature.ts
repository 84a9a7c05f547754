import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../json/parse';
import type { EventBody } from './events';

const SECRET_PREFIX = 'whsec_';
const SIGNATURE_VERSION = 'v1';
/** A header with more signatures was not sent by this service. Receivers compare each with their secrets. */
const MAX_SIGNATURES = 16;

/** Headers in any case, or a fetch `Headers`. */
export type WebhookHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };
export type DeliveryHeaders = Record<
  'x-service-signature' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature',
  string
>;
export type WebhookVerificationReason =
  'missing_header' | 'malformed_header' | 'timestamp_out_of_range' | 'signature_mismatch' | 'malformed_body';

/** A delivery that must not be processed: respond with 401. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';

  constructor(
    readonly reason: WebhookVerificationReason,
    message: string,
  ) {
    super(message);
  }
}

/** Returns a new signing secret: `whsec_` and the base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString('base64');
}

/** Returns the lowercase hex SHA-256 of the whole secret. It identifies the secret without revealing it. */
export function secretFingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/**
 * Returns the headers that sign one attempt (contract, "Events"). `x-service-signature` is the lowercase hex
 * HMAC-SHA256 of the body keyed with the whole current secret (specification "Events", rule 1). The `webhook-…` headers
 * are those of Standard Webhooks, keyed with the decoded bytes of each secret, the current one first.
 *
 * @param delivery `id` is that of the event (the same on every retry), `timestampSeconds` the attempt's time in Unix
 *   seconds, and `body` exactly the text or bytes that are sent.
 */
export function signDelivery(delivery: {
  secrets: readonly string[];
  id: string;
  timestampSeconds: number;
  body: string | Uint8Array;
}): DeliveryHeaders {
  const { secrets, id, timestampSeconds, body } = delivery;
  const [current] = secrets;
  if (current === undefined) throw new RangeError('A delivery needs at least one secret to be signed with.');
  const timestamp = String(Math.floor(timestampSeconds));
  return {
    'x-service-signature': createHmac('sha256', current).update(body).digest('hex'),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets
      .map((secret) => `${SIGNATURE_VERSION},${standardMac(secret, id, timestamp, body).toString('base64')}`)
      .join(' '),
  };
}

/**
 * Verifies a received delivery before anything is parsed: compares the Standard Webhooks signature of the raw body in
 * constant time, and refuses old deliveries, which may be replays. Deliveries can repeat, so drop an `id` that you have
 * seen.
 *
 * @param delivery `body` is the raw bytes as received; `toleranceSeconds` is how far the timestamp may be from
 *   `nowSeconds`, which defaults to the clock, in either direction.
 * @throws WebhookVerificationError with the reason.
 */
export function verifyWebhook(delivery: {
  secret: string;
  headers: WebhookHeaders;
  body: Uint8Array;
  toleranceSeconds?: number;
  nowSeconds?: number;
}): EventBody {
  const { secret, headers, body, toleranceSeconds = 300, nowSeconds = Date.now() / 1000 } = delivery;
  const id = requireHeader(headers, 'webhook-id');
  const timestamp = requireHeader(headers, 'webhook-timestamp');
  const signatures = requireHeader(headers, 'webhook-signature').split(' ', MAX_SIGNATURES);
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError('malformed_header', 'webhook-timestamp is not a time in Unix seconds.');
  }
  const expected = standardMac(secret, id, timestamp, body);
  if (!signatures.some((signature) => isSignature(signature, expected))) {
    throw new WebhookVerificationError('signature_mismatch', 'No signature matches the body and this secret.');
  }
  if (Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError(
      'timestamp_out_of_range',
      `webhook-timestamp is more than ${toleranceSeconds} s away from the current time.`,
    );
  }
  return requireEventBody(body);
}

function standardMac(secret: string, id: string, timestamp: string, body: string | Uint8Array): Buffer {
  return createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();
}

function keyOf(secret: string): Buffer {
  const key = secret.startsWith(SECRET_PREFIX) ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64') : null;
  // An empty key would allow anyone to sign.
  if (key === null || key.length === 0) throw new RangeError('A webhook secret is "whsec_" followed by base64.');
  return key;
}

function isSignature(signature: string, expected: Buffer): boolean {
  const [version, encoded = ''] = signature.split(',', 2);
  const bytes = Buffer.from(encoded, 'base64');
  return version === SIGNATURE_VERSION && bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = headerOf(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  if (Array.isArray(value))
    throw new WebhookVerificationError('malformed_header', `The request has more than one ${name}.`);
  throw new WebhookVerificationError('missing_header', `The request has no ${name}.`);
}

function headerOf(headers: WebhookHeaders, name: string): string | readonly string[] | null | undefined {
  if (typeof headers.get === 'function') return headers.get(name);
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function requireEventBody(body: Uint8Array): EventBody {
  try {
    const parsed: unknown = parseJson(body, { maxDepth: Infinity });
    if (isEventBody(parsed)) return parsed;
  } catch {
    // The error below covers every body that is not an event.
  }
  throw new WebhookVerificationError('malformed_body', 'The signature is valid, but the body is not an event.');
}

function isEventBody(value: unknown): value is EventBody {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['id', 'type', 'created_at', 'tenant_id'].every((name) => typeof Reflect.get(value, name) === 'string') &&
    'data' in value
  );
}
