import { EVENT_TYPES } from '@iss/domain';
import type { WebhookSubscriptionRecord } from '@iss/persistence';
import { ApiPathParam, named, object, type Schema, TIMESTAMP } from '../../http/describe/openapi';
import { SUBSCRIPTION_PREFIX, subscriptionIdOf } from './subscription-id';

export interface WebhookSubscriptionView {
  subscription_id: string;
  tenant_id: string;
  target_url: string;
  event_types: string[];
  subscribed_event_types: string[];
  status: string;
  secret_last_rotated_at: string;
  disabled_at: string | null;
  disabled_reason: string | null;
  created_at: string;
}

const TEXT: Schema = { type: 'string' };
const EVENT_TYPE_LIST: Schema = { type: 'array', items: { type: 'string', enum: EVENT_TYPES } };

export const SUBSCRIPTION = named(
  'WebhookSubscription',
  object({
    subscription_id: TEXT,
    tenant_id: TEXT,
    target_url: TEXT,
    event_types: EVENT_TYPE_LIST,
    subscribed_event_types: { ...EVENT_TYPE_LIST, deprecated: true },
    status: { type: 'string', enum: ['active', 'disabled'] },
    secret_last_rotated_at: TIMESTAMP,
    disabled_at: { type: ['string', 'null'], format: 'date-time' },
    disabled_reason: {
      type: ['string', 'null'],
      enum: ['requested', 'gone', 'failing', null],
      description:
        '`requested` by a `PATCH`; `gone`: the receiver answered 410; `failing`: five days without a success.',
    },
    created_at: TIMESTAMP,
  }),
);

export const SUBSCRIPTION_EXAMPLE: WebhookSubscriptionView = {
  subscription_id: 'wsub_7d0b1c9e-40bb-4d5b-8f2c-6a3f0f3a9d11',
  tenant_id: 'acme',
  target_url: 'https://hooks.example.com/iss',
  event_types: ['identity.snapshot.created'],
  subscribed_event_types: ['identity.snapshot.created'],
  status: 'active',
  secret_last_rotated_at: '2026-01-15T09:00:00.000Z',
  disabled_at: null,
  disabled_reason: null,
  created_at: '2026-01-15T09:00:00.000Z',
};

export const ApiSubscriptionParam = (): MethodDecorator =>
  ApiPathParam(
    'subscription_id',
    `A webhook subscription; the UUID without \`${SUBSCRIPTION_PREFIX}\` will do too.`,
    { type: 'string', pattern: `^(${SUBSCRIPTION_PREFIX})?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$` },
    SUBSCRIPTION_EXAMPLE.subscription_id,
  );

/** A subscription as its tenant sees it: never with its secret. */
export function webhookSubscriptionView(subscription: WebhookSubscriptionRecord): WebhookSubscriptionView {
  return {
    subscription_id: subscriptionIdOf(subscription.subscriptionId),
    tenant_id: subscription.tenantId,
    target_url: subscription.targetUrl,
    event_types: subscription.eventTypes,
    subscribed_event_types: subscription.eventTypes,
    status: subscription.status,
    secret_last_rotated_at: subscription.secretLastRotatedAt.toISOString(),
    disabled_at: subscription.disabledAt?.toISOString() ?? null,
    disabled_reason: subscription.disabledReason,
    created_at: subscription.createdAt.toISOString(),
  };
}
