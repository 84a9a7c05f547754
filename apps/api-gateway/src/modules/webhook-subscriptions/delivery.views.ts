import { EVENT_TYPES, eventIdOf, TEST_EVENT_TYPE } from '@iss/domain';
import type { DeliveryRecord } from '@iss/persistence';
import { JsonText } from '../../http/answer/json-text';
import { named, object, type Schema, TIMESTAMP, UUID } from '../../http/describe/openapi';
import { SNAPSHOT_HEADER_EXAMPLE } from '../../http/answer/snapshot-header.view';
import { subscriptionIdOf } from './subscription-id';
import { SUBSCRIPTION_EXAMPLE } from './webhook-subscription.views';

export interface DeliveryView {
  delivery_id: string;
  event_id: string;
  event_type: string;
  subscription_id: string;
  status: string;
  attempt_count: number;
  next_attempt_at: string | null;
  created_at: string;
  finished_at: string | null;
  request_id: string | null;
  traceparent: string | null;
  attempts: {
    attempt: number;
    started_at: string;
    latency_ms: number;
    status_code: number | null;
    error_phase: string | null;
    error: string | null;
  }[];
}

const TEXT: Schema = { type: 'string' };
const OPTIONAL_TEXT: Schema = { type: ['string', 'null'] };
const OPTIONAL_TIME: Schema = { type: ['string', 'null'], format: 'date-time' };
const EVENT_TYPE: Schema = { type: 'string', enum: [...EVENT_TYPES, TEST_EVENT_TYPE] };

const FIELDS: Record<string, Schema> = {
  delivery_id: UUID,
  event_id: { type: 'string', description: 'The same in `webhook-id` of every attempt.' },
  event_type: EVENT_TYPE,
  subscription_id: TEXT,
  status: {
    type: 'string',
    enum: ['pending', 'succeeded', 'dead', 'skipped'],
    description:
      '`dead`: retries ran out, or the receiver answered 410. `skipped`: the subscription was disabled or deleted.',
  },
  attempt_count: { type: 'integer', description: 'Attempts ever begun, those before a redelivery included.' },
  next_attempt_at: { ...OPTIONAL_TIME, description: 'Null unless `pending`.' },
  created_at: TIMESTAMP,
  finished_at: OPTIONAL_TIME,
  request_id: { ...OPTIONAL_TEXT, description: 'Of the request that caused the event.' },
  traceparent: OPTIONAL_TEXT,
  attempts: {
    type: 'array',
    description: 'The last 50, oldest first.',
    items: object({
      attempt: { type: 'integer' },
      started_at: TIMESTAMP,
      latency_ms: { type: 'integer' },
      status_code: { type: ['integer', 'null'], description: 'Null when no answer came.' },
      error_phase: {
        type: ['string', 'null'],
        description: 'signing, target, dns, blocked, connect, tls, timeout, response or status; null after a success.',
      },
      error: OPTIONAL_TEXT,
    }),
  },
};
export const DELIVERY = named('Delivery', object(FIELDS));
export const DELIVERY_WITH_PAYLOAD = named(
  'DeliveryWithPayload',
  object({
    ...FIELDS,
    payload: {
      description: 'The body of the request to the receiver, character for character.',
      ...object({
        id: TEXT,
        type: EVENT_TYPE,
        created_at: TIMESTAMP,
        tenant_id: TEXT,
        data: { type: 'object', additionalProperties: true },
      }),
    },
  }),
);

export const DELIVERY_EXAMPLE: DeliveryView = {
  delivery_id: '0d9a3f52-7f0c-4b62-9f0e-2a1f6f1f9c77',
  event_id: 'evt_0199b2c4-8a10-7c3e-9a57-5d2f0c6b1e42',
  event_type: 'identity.snapshot.created',
  subscription_id: SUBSCRIPTION_EXAMPLE.subscription_id,
  status: 'dead',
  attempt_count: 1,
  next_attempt_at: null,
  created_at: '2026-01-15T10:00:00.000Z',
  finished_at: '2026-01-15T10:00:00.150Z',
  request_id: '4f6c0f0e-6a55-4a3c-9e67-0f8f6cf5a001',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  attempts: [
    {
      attempt: 1,
      started_at: '2026-01-15T10:00:00.050Z',
      latency_ms: 96,
      status_code: 410,
      error_phase: 'status',
      error: 'The answer was 410.',
    },
  ],
};
export const PENDING_EXAMPLE: DeliveryView = {
  ...DELIVERY_EXAMPLE,
  status: 'pending',
  next_attempt_at: '2026-01-16T08:00:00.000Z',
  finished_at: null,
};
export const TEST_EXAMPLE: DeliveryView = {
  ...PENDING_EXAMPLE,
  event_type: TEST_EVENT_TYPE,
  attempt_count: 0,
  next_attempt_at: PENDING_EXAMPLE.created_at,
  attempts: [],
};
const { subject, snapshot_id, snapshot_version, envelope_hash, prev_hash } = SNAPSHOT_HEADER_EXAMPLE;
export const DELIVERY_WITH_PAYLOAD_EXAMPLE = {
  ...DELIVERY_EXAMPLE,
  payload: {
    id: DELIVERY_EXAMPLE.event_id,
    type: 'identity.snapshot.created',
    created_at: '2026-01-15T10:00:00.000Z',
    tenant_id: 'acme',
    data: {
      subject,
      snapshot_id,
      snapshot_version,
      envelope_hash,
      prev_hash,
    },
  },
};

export function deliveryView(delivery: DeliveryRecord): DeliveryView {
  return {
    delivery_id: delivery.deliveryId,
    event_id: eventIdOf(delivery.eventId),
    event_type: delivery.eventType,
    subscription_id: subscriptionIdOf(delivery.subscriptionId),
    status: delivery.status,
    attempt_count: delivery.attemptCount,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
    finished_at: delivery.finishedAt?.toISOString() ?? null,
    request_id: delivery.requestId,
    traceparent: delivery.traceparent,
    attempts: delivery.attempts.map((attempt) => ({
      attempt: attempt.attempt,
      started_at: attempt.startedAt.toISOString(),
      latency_ms: attempt.latencyMs,
      status_code: attempt.statusCode,
      error_phase: attempt.errorPhase,
      error: attempt.error,
    })),
  };
}

/** The delivery with what is sent as it is stored: a receiver's signature is over these very characters. */
export function deliveryWithPayload(delivery: DeliveryRecord & { body: string }): JsonText {
  return new JsonText(`${JSON.stringify(deliveryView(delivery)).slice(0, -1)},"payload":${delivery.body}}`);
}
