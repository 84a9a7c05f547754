import { EVENT_TYPES, MAX_PATHS, RULES, SUBSCRIPTION_STATUSES, subscriptionIdOf } from '@iss/domain';
import { arrayWith, integerFrom, oneOf, PAGE, setOf, tenantId, text, time, url } from '../describe/fields';
import { part, type RecordOf, view, type ViewOf } from '../describe/view';
import { alias, listOf, shown } from '../describe/field';
import { body, query, type SentOf } from '../describe/shape';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { type ResponseFacts, answer, operations } from '../describe/operation';
import { paged } from '../describe/page';
import { PATH_PATTERN } from '../sharing/grant';

const MAX_EVENT_TYPES = 32;
const MAX_GRACE_SECONDS = 604_800;

const eventTypes = setOf(EVENT_TYPES, { maxItems: MAX_EVENT_TYPES }).described(
  'The types of events that the subscription gets.',
);

/** Paths in a body. */
const sentPaths = arrayWith({ type: 'string', pattern: PATH_PATTERN })
  .nullable()
  .optional()
  .described(
    `1 to ${MAX_PATHS} JSON Pointers below \`/attributes\`. Events of new snapshots are sent only if something at, below ` +
      'or above them changed. The service sorts them, and removes paths below another one. Null: all are sent.',
  )
  .example(['/attributes/legal/legal_name']);

const targetUrl = url(2048).described('The URL that receives the events.').example('https://hooks.example.com/iss');
const status = oneOf(SUBSCRIPTION_STATUSES).described('A `disabled` subscription gets no events.');

/** A subscription without its secret. */
export const Subscription = view('WebhookSubscription', {
  subscription_id: text.madeOf(subscriptionIdOf).described('The id of the subscription.'),
  tenant_id: tenantId,
  target_url: text.described('The URL that receives the events.'),
  event_types: eventTypes,
  subscribed_event_types: alias('event_types'),
  paths: listOf(text)
    .nullable()
    .described(
      'Events of new snapshots are sent only if something at, below or above these JSON Pointers changed. Null: all ' +
        'are sent. See [/docs/webhooks](/docs/webhooks).',
    ),
  status,
  secret_last_rotated_at: time.described('When the secret was last replaced.'),
  disabled_at: time.nullable().described('When the subscription was disabled; null while it is `active`.'),
  disabled_reason: oneOf<string>(['requested', 'gone', 'failing'])
    .nullable()
    .described(
      '`requested`: by a `PATCH`. `gone`: the receiver returned 410. `failing`: no delivery succeeded for five days.',
    ),
  created_at: time.described('When the subscription was created.'),
});
export type Subscription = ViewOf<typeof Subscription>;

const wrapped = { webhook_subscription: Subscription.from('subscription').described('The subscription.') };
export const WrappedSubscription = part(wrapped);
export type WrappedSubscription = ViewOf<typeof WrappedSubscription>;

/** A subscription with its secret, which is returned only in the response that creates it. */
export const SubscriptionWithSecret = part({
  ...wrapped,
  secret: shown<string>({ type: 'string', pattern: '^whsec_[A-Za-z0-9+/]{43}=$' }).described(
    'The secret that signs the events. It appears only in this response.',
  ),
});
export type SubscriptionWithSecret = ViewOf<typeof SubscriptionWithSecret>;

/** Body of `POST /v1/webhook-subscriptions` (specification, "Webhook subscriptions"). */
export const CreateWebhookSubscriptionBody = body(
  'CreateWebhookSubscriptionBody',
  {
    event_types: eventTypes.example(['identity.snapshot.created']),
    subscribed_event_types: alias('event_types'),
    paths: sentPaths,
    tenant_id: tenantId.example('acme'),
    target_url: targetUrl,
  },
  {
    snapshots: {
      value: {
        tenant_id: 'acme',
        target_url: 'https://hooks.example.com/iss',
        event_types: ['identity.snapshot.created'],
      },
    },
    ofPaths: {
      value: {
        tenant_id: 'acme',
        target_url: 'https://hooks.example.com/iss-names',
        event_types: ['identity.snapshot.created', 'shared.snapshot.created'],
        paths: ['/attributes/legal/legal_name'],
      },
    },
  },
);
export type CreateWebhookSubscriptionBody = SentOf<typeof CreateWebhookSubscriptionBody>;

/** Body of `PATCH /v1/webhook-subscriptions/{subscription_id}`. Omitted fields do not change. */
export const UpdateWebhookSubscriptionBody = body(
  'UpdateWebhookSubscriptionBody',
  {
    event_types: eventTypes.optional().example(['identity.snapshot.created']),
    subscribed_event_types: alias('event_types'),
    paths: sentPaths,
    target_url: targetUrl.optional(),
    status: status.optional().example('disabled'),
  },
  {
    disable: { value: { status: 'disabled' } },
    enable: { value: { status: 'active' } },
    redirect: {
      value: {
        target_url: 'https://hooks.example.com/iss-v2',
        event_types: ['identity.snapshot.created', 'refresh_request.created'],
      },
    },
  },
);
export type UpdateWebhookSubscriptionBody = SentOf<typeof UpdateWebhookSubscriptionBody>;

/** Optional body of `POST …/rotate-secret`. */
export const RotateSecretBody = body(
  'RotateSecretBody',
  {
    grace_seconds: integerFrom(0, MAX_GRACE_SECONDS)
      .optional()
      .example(86_400)
      .described(
        'The seconds in which `webhook-signature` also has a signature with the old secret. 0 or absent: the old ' +
          'secret stops immediately.',
      ),
  },
  { now: { value: {} }, overlapping: { value: { grace_seconds: 86_400 } } },
);
export type RotateSecretBody = SentOf<typeof RotateSecretBody>;

export const ListWebhookSubscriptionsQuery = query({
  ...PAGE,
  tenant_id: tenantId.example('acme').described('The tenant whose subscriptions are listed.'),
});
export type ListWebhookSubscriptionsQuery = SentOf<typeof ListWebhookSubscriptionsQuery>;

export const SUBSCRIPTION: RecordOf<typeof Subscription> = {
  subscriptionId: EXAMPLE_IDS.subscription_id,
  tenantId: 'acme',
  targetUrl: 'https://hooks.example.com/iss',
  eventTypes: ['identity.snapshot.created'],
  paths: null,
  status: 'active',
  secretLastRotatedAt: new Date('2026-01-15T09:00:00Z'),
  disabledAt: null,
  disabledReason: null,
  createdAt: new Date('2026-01-15T09:00:00Z'),
};

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

function subscriptionAnswer(description: string, change: Partial<typeof SUBSCRIPTION> = {}): ResponseFacts {
  const subscription = { ...SUBSCRIPTION, ...change };
  return answer(description, WrappedSubscription, WrappedSubscription.of({ subscription }));
}

function secretAnswer(description: string, secretLastRotatedAt = SUBSCRIPTION.secretLastRotatedAt): ResponseFacts {
  const subscription = { ...SUBSCRIPTION, secretLastRotatedAt };
  return answer(description, SubscriptionWithSecret, SubscriptionWithSecret.of({ subscription, secret: SECRET }));
}

const BOTH_NAMES = '`event_types` and `subscribed_event_types` name the same field.';

export const WEBHOOK_SUBSCRIPTIONS = operations('Webhook subscriptions', '/v1/webhook-subscriptions', {
  createWebhookSubscription: {
    route: 'POST ',
    summary: 'Subscribe a URL to events of a tenant',
    who: RULES.useWebhooks,
    body: CreateWebhookSubscriptionBody,
    description: `The signing secret appears only in this response. ${BOTH_NAMES} See [/docs/webhooks](/docs/webhooks).`,
    answers: { 201: secretAnswer('The subscription and its secret.') },
  },
  listWebhookSubscriptions: {
    route: 'GET ',
    summary: 'List the webhook subscriptions of a tenant, oldest first',
    who: RULES.useWebhooks,
    ...paged('One page.', Subscription, [Subscription.of(SUBSCRIPTION)]),
    query: ListWebhookSubscriptionsQuery,
  },
  getWebhookSubscription: {
    route: 'GET /{subscription_id}',
    summary: 'Read a webhook subscription',
    who: RULES.useWebhooks,
    answers: { 200: subscriptionAnswer('The subscription.') },
    errors: ['not_found'],
  },
  updateWebhookSubscription: {
    route: 'PATCH /{subscription_id}',
    summary: 'Change, disable or enable a webhook subscription',
    who: RULES.useWebhooks,
    body: UpdateWebhookSubscriptionBody,
    description:
      'Fields that you leave out do not change. Events for a `disabled` subscription are recorded as `skipped`; ' +
      `you can replay them once it is \`active\` again. ${BOTH_NAMES}`,
    answers: {
      200: subscriptionAnswer('The subscription after the change.', {
        status: 'disabled',
        disabledAt: new Date('2026-02-01T00:00:00Z'),
        disabledReason: 'requested',
      }),
    },
    errors: ['not_found'],
  },
  rotateWebhookSecret: {
    route: 'POST /{subscription_id}/rotate-secret',
    summary: 'Replace the secret of a webhook subscription',
    who: RULES.useWebhooks,
    body: RotateSecretBody,
    isBodyOptional: true,
    description: 'The new secret appears only in this response and signs deliveries immediately. The body is optional.',
    answers: { 200: secretAnswer('The subscription and its new secret.', new Date('2026-02-01T00:00:00Z')) },
    errors: ['not_found'],
  },
  deleteWebhookSubscription: {
    route: 'DELETE /{subscription_id}',
    summary: 'Delete a webhook subscription',
    who: RULES.useWebhooks,
    description: 'No more events are sent. The delivery log stays readable.',
    answers: { 204: { description: 'The subscription is deleted.' } },
    errors: ['not_found'],
  },
});
