import { bytesOfBinary, concatBytes, decodeUtf8, encodeUtf8 } from '@iss/tlog';
import { IdentityStateError } from './errors.ts';
import type * as api from './generated/types.ts';
import { decode } from './http/answer.ts';

/** What arrives, told apart by `type` (docs/webhooks.md). Later versions of the service may send others: ignore them. */
export type WebhookEvent =
  | api.SnapshotCreatedEvent
  | api.SharedSnapshotCreatedEvent
  | api.UpdateProposedEvent
  | api.UpdateAppliedEvent
  | api.UpdateWithdrawnEvent
  | api.RefreshRequestCreatedEvent
  | api.RefreshRequestFulfilledEvent
  | api.RefreshRequestDeclinedEvent
  | api.RefreshRequestCancelledEvent
  | api.RefreshRequestOverdueEvent
  | api.RefreshRequestExpiredEvent
  | api.ErasureRequestedEvent
  | api.SubjectErasedEvent
  | api.GrantCreatedEvent
  | api.GrantChangedEvent
  | api.GrantRevokedEvent
  | api.GrantExpiringEvent
  | api.GrantExpiredEvent
  | api.WebhookTestEvent;

/** The types of events that can be subscribed to. */
export type EventType = api.WebhookSubscription['event_types'][number];

export type WebhookFailure = 'missing_header' | 'malformed_header' | 'timestamp' | 'signature' | 'malformed_body';

/** A delivery that must not be worked on: answer 401. */
export class WebhookVerificationError extends IdentityStateError {
  readonly failure: WebhookFailure;

  constructor(failure: WebhookFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** Headers in any case, or a fetch `Headers`. */
export type WebhookHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

export interface WebhookOptions {
  /** How far the sender's clock may be from this one, either way: five minutes unless said otherwise. */
  toleranceSeconds?: number;
  /** The time in milliseconds since 1970: the platform's unless said otherwise. */
  now?: () => number;
}

const EVENT = { id: '', type: '', created_at: '', tenant_id: '', data: {} } as const;

/** A header with more signatures than this is not the service's. */
const MAX_SIGNATURES = 16;

/**
 * Verifies a delivery by its Standard Webhooks signature, in constant time, and that it is fresh. Drop an `id` that you have
 * worked on: deliveries may repeat.
 *
 * @param body the raw body as it arrived, before anything parsed it
 * @param secrets the secret, or while it is being changed both
 * @throws WebhookVerificationError with the reason
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now }: WebhookOptions = {},
): Promise<WebhookEvent> {
  const bytes = typeof body === 'string' ? encodeUtf8(body) : new Uint8Array(body);
  const id = requireHeader(headers, 'webhook-id');
  const timestamp = requireHeader(headers, 'webhook-timestamp');
  const signatures = requireHeader(headers, 'webhook-signature').split(' ', MAX_SIGNATURES);
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError('malformed_header', 'webhook-timestamp is not in seconds.');
  }
  const message = concatBytes(encodeUtf8(`${id}.${timestamp}.`), bytes);
  let isGenuine = false;
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const key = await crypto.subtle.importKey('raw', keyOf(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
      'verify',
    ]);
    for (const signature of signatures) {
      const mac = bytesAfter('v1,', signature);
      // The platform compares in constant time.
      if (mac !== null && (await crypto.subtle.verify('HMAC', key, mac, message))) isGenuine = true;
    }
  }
  if (!isGenuine) throw new WebhookVerificationError('signature', 'No signature fits the secret.');
  if (Math.abs(now() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError('timestamp', 'webhook-timestamp is too far off.');
  }
  return eventOf(bytes);
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  if (Array.isArray(value)) throw new WebhookVerificationError('malformed_header', `${name} is repeated.`);
  throw new WebhookVerificationError('missing_header', `The request has no ${name}.`);
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = bytesAfter('whsec_', secret);
  // An empty key would let anybody sign.
  if (key === null || key.length === 0) throw new IdentityStateError('A secret is "whsec_" and base64.');
  return key;
}

/** The bytes of base64 behind a prefix; null for any other text. */
function bytesAfter(prefix: string, text: string): Uint8Array<ArrayBuffer> | null {
  if (!text.startsWith(prefix)) return null;
  try {
    return bytesOfBinary(atob(text.slice(prefix.length)));
  } catch {
    return null;
  }
}

function eventOf(bytes: Uint8Array): WebhookEvent {
  try {
    // What is signed is the service's word.
    return decode<WebhookEvent>(decodeUtf8(bytes), EVENT);
  } catch {
    throw new WebhookVerificationError('malformed_body', 'The body is not an event.');
  }
}
