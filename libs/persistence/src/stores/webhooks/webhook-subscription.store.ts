import type { EventType, SubscriptionStatus } from '@iss/domain';
import { type Page, type PageRequest, toPage } from '../../sql/page';
import { type Sql, statement } from '../../sql/sql';

/** Where a tenant wants its events sent, without the secret. */
export interface WebhookSubscriptionRecord {
  /** Bare UUID. */
  subscriptionId: string;
  tenantId: string;
  targetUrl: string;
  eventTypes: EventType[];
  status: SubscriptionStatus;
  /** Null while it is active. */
  disabledReason: string | null;
  disabledAt: Date | null;
  secretLastRotatedAt: Date;
  createdAt: Date;
}

export interface NewWebhookSubscription {
  subscriptionId: string;
  tenantId: string;
  targetUrl: string;
  eventTypes: EventType[];
  /** Sealed with the subscription id as associated data. */
  secretSealed: string;
  secretFingerprint: string;
}

/** What may be changed; what is undefined stays. */
export interface WebhookSubscriptionChange {
  targetUrl?: string | undefined;
  eventTypes?: EventType[] | undefined;
  status?: SubscriptionStatus | undefined;
}

export interface SecretRotation {
  secretSealed: string;
  secretFingerprint: string;
  /** For so long the secret before this one signs too; 0: it stops at once. */
  graceSeconds: number;
}

const COLUMNS = `s.subscription_id AS "subscriptionId", s.tenant_id AS "tenantId", s.target_url AS "targetUrl",
       s.event_types AS "eventTypes", s.status, s.disabled_reason AS "disabledReason", s.disabled_at AS "disabledAt",
       s.secret_last_rotated_at AS "secretLastRotatedAt", s.created_at AS "createdAt"`;

const BY_ID = `s.subscription_id = $1 AND (s.deleted_at IS NULL) IS TRUE`;

const CREATE = statement<WebhookSubscriptionRecord>(
  'webhook_subscription_create',
  `INSERT INTO webhook_subscriptions AS s
       (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint)
VALUES ($1, $2, $3, $4, $5, $6)
RETURNING ${COLUMNS}`,
);

const FIND = statement<WebhookSubscriptionRecord>(
  'webhook_subscription_find',
  `SELECT ${COLUMNS} FROM webhook_subscriptions s WHERE ${BY_ID}`,
);

// The row of a deleted subscription stays, so that its place does too.
const PAGE = statement<WebhookSubscriptionRecord>(
  'webhook_subscriptions_of_tenant',
  `SELECT ${COLUMNS}
  FROM webhook_subscriptions s
 WHERE s.tenant_id = $1 AND s.deleted_at IS NULL
   AND (s.created_at, s.subscription_id) >
       (CASE WHEN $2::uuid IS NULL THEN '-infinity'
             ELSE (SELECT a.created_at FROM webhook_subscriptions a WHERE a.subscription_id = $2) END,
        coalesce($2, '00000000-0000-0000-0000-000000000000'))
 ORDER BY s.created_at, s.subscription_id LIMIT $3`,
);

// Why and since when is told once: disabling what is disabled changes nothing.
const CHANGE = statement<WebhookSubscriptionRecord>(
  'webhook_subscription_change',
  `UPDATE webhook_subscriptions s
   SET target_url = coalesce($2, s.target_url),
       event_types = coalesce($3, s.event_types),
       status = coalesce($4, s.status),
       disabled_at = CASE $4 WHEN 'active' THEN NULL WHEN 'disabled' THEN coalesce(s.disabled_at, now())
                             ELSE s.disabled_at END,
       disabled_reason = CASE $4 WHEN 'active' THEN NULL WHEN 'disabled' THEN coalesce(s.disabled_reason, 'requested')
                                 ELSE s.disabled_reason END,
       failing_since = CASE $4 WHEN 'active' THEN NULL ELSE s.failing_since END
 WHERE ${BY_ID}
RETURNING ${COLUMNS}`,
);

const ROTATE = statement<WebhookSubscriptionRecord>(
  'webhook_subscription_rotate',
  `UPDATE webhook_subscriptions s
   SET secret_sealed = $2, secret_fingerprint = $3, secret_last_rotated_at = now(),
       previous_secret_sealed = CASE WHEN $4::float8 > 0 THEN s.secret_sealed END,
       previous_secret_until = CASE WHEN $4 > 0 THEN now() + make_interval(secs => $4) END
 WHERE ${BY_ID}
RETURNING ${COLUMNS}`,
);

const DELETE = statement<{ subscriptionId: string }>(
  'webhook_subscription_delete',
  `UPDATE webhook_subscriptions s SET deleted_at = now() WHERE ${BY_ID} RETURNING s.subscription_id AS "subscriptionId"`,
);

/**
 * Webhook subscriptions as their tenant sees them: never with the secret. Deleted ones are gone. Each change is one
 * statement, so that of many changes at once each finds the subscription as the one before it left it.
 */
export class WebhookSubscriptionStore {
  constructor(private readonly sql: Sql) {}

  async create(subscription: NewWebhookSubscription): Promise<WebhookSubscriptionRecord> {
    const { subscriptionId, tenantId, targetUrl, eventTypes, secretSealed, secretFingerprint } = subscription;
    const values = [subscriptionId, tenantId, targetUrl, eventTypes, secretSealed, secretFingerprint];
    const [created] = await this.sql.run(CREATE, values);
    if (created === undefined) throw new Error('webhook_subscription_create answered no row');
    return created;
  }

  async find(subscriptionId: string): Promise<WebhookSubscriptionRecord | null> {
    const [found] = await this.sql.run(FIND, [subscriptionId]);
    return found ?? null;
  }

  /** A page of the tenant's subscriptions, oldest first. Its position is the id of the last one. */
  async page(tenantId: string, { limit, after }: PageRequest): Promise<Page<WebhookSubscriptionRecord>> {
    const rows = await this.sql.run(PAGE, [tenantId, after?.[0] ?? null, limit + 1]);
    return toPage(
      rows,
      limit,
      (subscription) => subscription,
      ({ subscriptionId }) => [subscriptionId],
    );
  }

  /** Answers the subscription after the change, or null when there is none. */
  async update(subscriptionId: string, change: WebhookSubscriptionChange): Promise<WebhookSubscriptionRecord | null> {
    const { targetUrl, eventTypes, status } = change;
    const [changed] = await this.sql.run(CHANGE, [subscriptionId, targetUrl, eventTypes, status]);
    return changed ?? null;
  }

  /** Gives the subscription another secret, or answers null when there is none. */
  async rotate(subscriptionId: string, rotation: SecretRotation): Promise<WebhookSubscriptionRecord | null> {
    const { secretSealed, secretFingerprint, graceSeconds } = rotation;
    const [rotated] = await this.sql.run(ROTATE, [subscriptionId, secretSealed, secretFingerprint, graceSeconds]);
    return rotated ?? null;
  }

  /** Ends the subscription; false when there is none. Nothing is sent to it from then on, its deliveries stay readable. */
  async delete(subscriptionId: string): Promise<boolean> {
    return (await this.sql.run(DELETE, [subscriptionId])).length === 1;
  }
}
