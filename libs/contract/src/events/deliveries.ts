import {
  DELIVERY_STATUSES,
  EVENT_TYPES,
  eventIdOf,
  FAILURE_PHASES,
  RULES,
  SKIPPED_REASONS,
  subscriptionIdOf,
  TEST_EVENT_TYPE,
} from '@iss/domain';
import { anyObject, flag, integer, oneOf, PAGE, tenantId, text, time, uuid } from '../describe/fields';
import { part, type RecordOf, view, type ViewOf } from '../describe/view';
import { listOf } from '../describe/field';
import { body, query, type SentOf } from '../describe/shape';
import { SNAPSHOT_HEADER_EXAMPLE } from '../snapshots/snapshot-header';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { answer, operations } from '../describe/operation';
import { paged } from '../describe/page';

const FINISHED = ['succeeded', 'dead', 'skipped'] as const;
const SENT_TYPES = [...EVENT_TYPES, TEST_EVENT_TYPE] as const;
const eventType = oneOf<string>(SENT_TYPES);

export const Delivery = view('Delivery', {
  delivery_id: uuid.described('The id of the delivery.'),
  event_id: text.madeOf(eventIdOf).described('The same id as in `webhook-id` of every attempt.'),
  event_type: eventType.described('The type of the event.'),
  subscription_id: text.madeOf(subscriptionIdOf).described('The subscription that gets the delivery.'),
  status: oneOf(DELIVERY_STATUSES).described(
    '`dead`: retries ran out, or the receiver returned 410. `skipped`: it was not sent; `skipped_reason` says why.',
  ),
  attempt_count: integer.described('The number of attempts, including those before a redelivery.'),
  next_attempt_at: time.nullable().described('When the next attempt is due; null unless `pending`.'),
  created_at: time.described('When the delivery was created.'),
  finished_at: time.nullable().described('When the delivery finished; null while it is `pending`.'),
  skipped_reason: oneOf(SKIPPED_REASONS)
    .nullable()
    .described(
      '`subscription_inactive`: the subscription was disabled or deleted; `no_grant`: the tenant may no longer read the subject. Null unless `skipped`.',
    ),
  request_id: text.nullable().described('The request that caused the event.'),
  traceparent: text.nullable().described('The trace of that request (W3C Trace Context).'),
  attempts: listOf(
    part({
      attempt: integer.described('The number of the attempt, from 1.'),
      started_at: time.described('When the attempt began.'),
      latency_ms: integer.described('The duration in milliseconds.'),
      status_code: integer.nullable().described('The HTTP status of the response; null if there was none.'),
      error_phase: text
        .nullable()
        .described(`The phase that failed: one of ${FAILURE_PHASES.join(', ')}; null after a success.`),
      error: text.nullable().described('The problem; null after a success.'),
    }),
  ).described('The last 50 attempts, oldest first.'),
});
export type Delivery = ViewOf<typeof Delivery>;

/** A delivery with its stored body. The signature covers exactly these characters. */
export const DeliveryWithPayload = view('DeliveryWithPayload', {
  ...Delivery.fields,
  payload: part({
    id: text.described('The id of the event.'),
    type: eventType.described('The type of the event.'),
    created_at: text.shownAs(time.facts.shown).described('When the event was created.'),
    tenant_id: tenantId,
    data: anyObject.described(
      'The data of the event. The webhooks section of this document has a schema for each type.',
    ),
  })
    .from('body')
    .asText()
    .described('The body of the request to the receiver, character for character.'),
});

/** The result of a replay. */
export const Replayed = part({
  count: integer.described('The number of deliveries that are sent again.'),
  has_more: flag.described('True if deliveries remain: send the request again with `next_from` as `from`.'),
  next_from: time.nullable().described('The `from` of the next request; null if no delivery remains.'),
});
export type Replayed = ViewOf<typeof Replayed>;

const from = time.described('Only deliveries created at or after this time.').example('2026-01-15T00:00:00Z');
const to = time.optional().described('Only deliveries created at or before this time.').example('2026-01-16T00:00:00Z');

export const ListDeliveriesQuery = query({
  ...PAGE,
  status: oneOf(DELIVERY_STATUSES).optional().example('dead').described('Absent: all states.'),
  event_type: oneOf(SENT_TYPES)
    .optional()
    .example('identity.snapshot.created')
    .described('Only deliveries of events of this type. Absent: all types.'),
  from: from.optional(),
  to,
});
export type ListDeliveriesQuery = SentOf<typeof ListDeliveriesQuery>;

/** Body of `POST …/deliveries/replay`. */
export const ReplayBody = body(
  'ReplayBody',
  {
    from,
    to,
    status: oneOf(FINISHED)
      .optional()
      .example('dead')
      .described('Only deliveries in this status. Defaults to `dead` and `skipped`.'),
  },
  {
    missed: { value: { from: '2026-01-15T00:00:00Z' } },
    dead: { value: { from: '2026-01-15T00:00:00Z', to: '2026-01-16T00:00:00Z', status: 'dead' } },
  },
);
export type ReplayBody = SentOf<typeof ReplayBody>;

const { subject, snapshot_id, snapshot_version, envelope_hash, prev_hash } = SNAPSHOT_HEADER_EXAMPLE;

const EVENT_ID = '0199b2c4-8a10-7c3e-9a57-5d2f0c6b1e42';

export const DEAD: RecordOf<typeof DeliveryWithPayload> = {
  deliveryId: EXAMPLE_IDS.delivery_id,
  eventId: EVENT_ID,
  eventType: 'identity.snapshot.created',
  subscriptionId: EXAMPLE_IDS.subscription_id,
  status: 'dead',
  attemptCount: 1,
  nextAttemptAt: null,
  createdAt: new Date('2026-01-15T10:00:00Z'),
  finishedAt: new Date('2026-01-15T10:00:00.150Z'),
  requestId: EXAMPLE_IDS.request_id,
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  skippedReason: null,
  attempts: [
    {
      attempt: 1,
      startedAt: new Date('2026-01-15T10:00:00.050Z'),
      latencyMs: 96,
      statusCode: 410,
      errorPhase: 'status',
      error: 'The answer was 410.',
    },
  ],
  body: JSON.stringify({
    id: eventIdOf(EVENT_ID),
    type: 'identity.snapshot.created',
    created_at: '2026-01-15T10:00:00.000Z',
    tenant_id: 'acme',
    data: { subject, snapshot_id, snapshot_version, envelope_hash, prev_hash },
  }),
};

const REDELIVERED: RecordOf<typeof Delivery> = {
  ...DEAD,
  status: 'pending',
  nextAttemptAt: new Date('2026-01-16T08:00:00Z'),
  finishedAt: null,
};

const TEST: RecordOf<typeof Delivery> = {
  ...REDELIVERED,
  eventType: TEST_EVENT_TYPE,
  attemptCount: 0,
  nextAttemptAt: REDELIVERED.createdAt,
  attempts: [],
};

export const DELIVERIES = operations('Webhook subscriptions', '/v1/webhook-subscriptions/{subscription_id}', {
  listDeliveries: {
    route: 'GET /deliveries',
    summary: 'List the deliveries to a webhook subscription, newest first',
    who: RULES.useWebhooks,
    ...paged('One page.', Delivery, [Delivery.of(DEAD)]),
    query: ListDeliveriesQuery,
    description:
      'Each delivery has its attempts. Deliveries to a deleted subscription stay readable. A request examines ' +
      'at most 10,000 deliveries, so a filtered page may be short or empty and still have a `next_cursor`.',
    errors: ['not_found'],
  },
  getDelivery: {
    route: 'GET /deliveries/{delivery_id}',
    summary: 'Read a delivery, with its payload',
    who: RULES.useWebhooks,
    answers: { 200: answer('The delivery.', DeliveryWithPayload, DeliveryWithPayload.of(DEAD)) },
    errors: ['not_found'],
  },
  redeliverDelivery: {
    route: 'POST /deliveries/{delivery_id}/redeliver',
    summary: 'Send a finished delivery again',
    who: RULES.useWebhooks,
    description: 'The delivery keeps its `webhook-id`. Its retry schedule restarts; the attempt numbers continue.',
    answers: { 202: answer('The delivery, which is due now.', Delivery, Delivery.of(REDELIVERED)) },
    errors: ['not_found', 'conflict'],
  },
  replayDeliveries: {
    route: 'POST /deliveries/replay',
    summary: 'Send the finished deliveries of a period again',
    who: RULES.useWebhooks,
    body: ReplayBody,
    description:
      'A call sends at most 1,000 deliveries, oldest first, and examines at most 50,000. While `has_more` is ' +
      'true, call again with `next_from` as `from`. Both times are inclusive.',
    answers: {
      202: answer('The number of deliveries that are now due.', Replayed, {
        count: 1,
        has_more: false,
        next_from: null,
      }),
    },
    errors: ['not_found', 'conflict'],
  },
  testWebhookSubscription: {
    route: 'POST /test',
    summary: 'Send a `webhook.test` event to this subscription',
    who: RULES.useWebhooks,
    description:
      'Only this subscription gets the event, whatever event types it names. The delivery log shows the result.',
    answers: { 202: answer('The delivery, which is due now.', Delivery, Delivery.of(TEST)) },
    errors: ['not_found', 'conflict'],
  },
});
