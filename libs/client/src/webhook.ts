import { bytesOfBinary, concatBytes, decodeUtf8, encodeUtf8 } from '@iss/tlog';
import { IdentityStateError } from './errors.ts';
import type * as api from './generated/types.ts';
import { decode } from './http/answer.ts';

/** A webhook event, discriminated by `type` (docs/webhooks.md). Ignore unknown types, which later versions of the service may send. */
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
  | api.TenantChangeRequestedEvent
  | api.EvidenceRevokedEvent
  | api.ErasureRequestedEvent
  | api.SubjectErasedEvent
  | api.GrantRequestedEvent
  | api.GrantCreatedEvent
  | api.GrantChangedEvent
  | api.GrantRevokedEvent
  | api.GrantStartedEvent
  | api.GrantExpiringEvent
  | api.GrantExpiredEvent
  | api.WebhookTestEvent;

/** The event types for subscriptions. */
export type EventType = api.WebhookSubscription['event_types'][number];

export type WebhookFailure = 'missing_header' | 'malformed_header' | 'timestamp' | 'signature' | 'malformed_body';

/** The delivery is not genuine. Do not process it, and answer 401. */
export class WebhookVerificationError extends IdentityStateError {
  readonly failure: WebhookFailure;

  constructor(failure: WebhookFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** Headers with names in any case, or a fetch `Headers` object. */
export type WebhookHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

export interface WebhookOptions {
  /** The allowed difference between the clocks of sender and receiver. Defaults to 300. */
  toleranceSeconds?: number;
  /** Returns the time in milliseconds since 1970. Defaults to `Date.now`. */
  now?: () => number;
}

const EVENT = { id: '', type: '', created_at: '', tenant_id: '', data: {} } as const;

/** The service never sends more signatures. */
const MAX_SIGNATURES = 16;

/**
 * Verifies the Standard Webhooks signature of a delivery in constant time, and that the delivery is recent. Deliveries can repeat, so ignore
 * an `id` that you have already processed.
 *
 * @param body the raw body, before parsing
 * @param secrets the secret, or both secrets during a rotation
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
  // With an empty key, anyone could sign.
  if (key === null || key.length === 0) throw new IdentityStateError('A secret is "whsec_" and base64.');
  return key;
}

/** Decodes base64 after a prefix. Returns null for any other text. */
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
    // The signature proves the content, so a shallow check is enough.
    return decode<WebhookEvent>(decodeUtf8(bytes), EVENT);
  } catch {
    throw new WebhookVerificationError('malformed_body', 'The body is not an event.');
  }
}
