import type { WebhookSubscriptionEntity } from '@iss/persistence';

/** The prefix of subscription ids; path parameters take the bare UUID too. */
export const SUBSCRIPTION_PREFIX = 'wsub_';

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

/** A subscription as its tenant sees it: never with its secret. */
export function webhookSubscriptionView(subscription: WebhookSubscriptionEntity): WebhookSubscriptionView {
  return {
    subscription_id: `${SUBSCRIPTION_PREFIX}${subscription.subscriptionId}`,
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
