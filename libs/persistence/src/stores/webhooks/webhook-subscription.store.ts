import type { EventType, SubscriptionStatus } from '@iss/domain';
import { type Caps, DEFAULT_CAPS, limitReached } from '@iss/platform';
import { type Columns, columns } from '../../sql/columns';
import { type Page, type PageRequest, toPage } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { capOf, countUpTo } from '../limits/caps';
import { ACTING, type ActedBy } from '../records/acting';
import { lockTenant } from '../tenancy/tenant-lock';

/** A webhook subscription without its secret. */
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

/** The new values. An undefined member stays unchanged. */
export interface WebhookSubscriptionChange {
  targetUrl?: string | undefined;
  eventTypes?: EventType[] | undefined;
  status?: SubscriptionStatus | undefined;
}

export interface SecretRotation {
  secretSealed: string;
  secretFingerprint: string;
  /** The time for which the previous secret also signs; 0 ends it immediately. */
  graceSeconds: number;
}

/** The columns of the subscription `s`. */
const SUBSCRIPTION: Columns<WebhookSubscriptionRecord> = {
  subscriptionId: 's.subscription_id',
  tenantId: 's.tenant_id',
  targetUrl: 's.target_url',
  eventTypes: 's.event_types',
  status: 's.status',
  disabledReason: 's.disabled_reason',
  disabledAt: 's.disabled_at',
  secretLastRotatedAt: 's.secret_last_rotated_at',
  createdAt: 's.created_at',
};
const COLUMNS = columns(SUBSCRIPTION);

interface ById {
  subscriptionId: string;
}
const BY_ID = 's.subscription_id = :subscriptionId AND (s.deleted_at IS NULL) IS TRUE';

const CREATE = statement<
  NewWebhookSubscription & Pick<Caps, 'subscriptions_per_tenant'>,
  { subscription: WebhookSubscriptionRecord | null; cap: number }
>(
  'webhook_subscription_create',
  `WITH cap AS MATERIALIZED (SELECT ${capOf('subscriptions_per_tenant', ':tenantId')} AS value),
made AS (
  INSERT INTO webhook_subscriptions
         (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint)
  SELECT :subscriptionId::uuid, :tenantId::text, :targetUrl::text, :eventTypes::text[], :secretSealed::text,
         :secretFingerprint::text
    FROM cap
   WHERE ${countUpTo(
     'cap.value',
     'FROM webhook_subscriptions w WHERE w.tenant_id = :tenantId AND w.deleted_at IS NULL',
   )} < cap.value
  RETURNING *
)
SELECT ${columns(SUBSCRIPTION, 'subscription?')}, cap.value AS cap
  FROM cap LEFT JOIN made s ON true`,
);

const FIND = statement<ById, WebhookSubscriptionRecord>(
  'webhook_subscription_find',
  `SELECT ${COLUMNS} FROM webhook_subscriptions s WHERE ${BY_ID}`,
);

// The row of a deleted subscription stays, so a page can continue after it.
const PAGE = statement<{ tenantId: string; last: string | number | null; rows: number }, WebhookSubscriptionRecord>(
  'webhook_subscriptions_of_tenant',
  `SELECT ${COLUMNS}
  FROM webhook_subscriptions s
 WHERE s.tenant_id = :tenantId AND s.deleted_at IS NULL
   AND (s.created_at, s.subscription_id) >
       (CASE WHEN :last::uuid IS NULL THEN '-infinity'
             ELSE (SELECT a.created_at FROM webhook_subscriptions a WHERE a.subscription_id = :last) END,
        coalesce(:last, '00000000-0000-0000-0000-000000000000'))
 ORDER BY s.created_at, s.subscription_id LIMIT :rows`,
);

// Reason and time are set once: disabling a disabled subscription does not change them.
const CHANGE = statement<ActedBy & ById & Record<keyof WebhookSubscriptionChange, unknown>, WebhookSubscriptionRecord>(
  'webhook_subscription_change',
  `UPDATE webhook_subscriptions s
   SET target_url = coalesce(:targetUrl::text, s.target_url),
       event_types = coalesce(:eventTypes, s.event_types),
       status = coalesce(:status::text, s.status),
       disabled_at = CASE :status::text WHEN 'active' THEN NULL WHEN 'disabled' THEN coalesce(s.disabled_at, now())
                             ELSE s.disabled_at END,
       disabled_reason = CASE :status::text WHEN 'active' THEN NULL WHEN 'disabled' THEN coalesce(s.disabled_reason, 'requested')
                                 ELSE s.disabled_reason END,
       failing_since = CASE :status::text WHEN 'active' THEN NULL ELSE s.failing_since END
  FROM ${ACTING}
 WHERE ${BY_ID}
RETURNING ${COLUMNS}`,
);

const ROTATE = statement<ActedBy & ById & SecretRotation, WebhookSubscriptionRecord>(
  'webhook_subscription_rotate',
  `UPDATE webhook_subscriptions s
   SET secret_sealed = :secretSealed, secret_fingerprint = :secretFingerprint, secret_last_rotated_at = now(),
       previous_secret_sealed = CASE WHEN :graceSeconds::float8 > 0 THEN s.secret_sealed END,
       previous_secret_until = CASE WHEN :graceSeconds > 0 THEN now() + make_interval(secs => :graceSeconds) END
  FROM ${ACTING}
 WHERE ${BY_ID}
RETURNING ${COLUMNS}`,
);

const DELETE = statement<ActedBy & ById, ById>(
  'webhook_subscription_delete',
  `UPDATE webhook_subscriptions s SET deleted_at = now() FROM ${ACTING} WHERE ${BY_ID}
  RETURNING s.subscription_id AS "subscriptionId"`,
);

/**
 * Webhook subscriptions of a tenant, never with the secret and without deleted ones. Each change is one statement, so concurrent
 * changes follow one another.
 */
export class WebhookSubscriptionStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /** Creates a subscription. Throws `limit_reached` if the tenant has the maximum number. */
  create(by: ActedBy, subscription: NewWebhookSubscription): Promise<WebhookSubscriptionRecord> {
    const { subscriptions_per_tenant } = this.caps;
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, { ...by, tenantId: subscription.tenantId });
      const { subscription: made, cap } = await sql.one(CREATE, { ...subscription, subscriptions_per_tenant });
      if (made === null) throw limitReached('subscriptions_per_tenant', cap);
      return made;
    });
  }

  async find(subscriptionId: string): Promise<WebhookSubscriptionRecord | null> {
    const [found = null] = await this.sql.run(FIND, { subscriptionId });
    return found;
  }

  /** Returns a page of the tenant's subscriptions, oldest first. Its position is the id of the last one. */
  async page(tenantId: string, { limit, after }: PageRequest): Promise<Page<WebhookSubscriptionRecord>> {
    return toPage(
      await this.sql.run(PAGE, { tenantId, last: after?.[0] ?? null, rows: limit + 1 }),
      limit,
      (subscription) => subscription,
      ({ subscriptionId }) => [subscriptionId],
    );
  }

  /** Changes the subscription. Returns its new state, or null if there is none. */
  async update(
    by: ActedBy,
    subscriptionId: string,
    { targetUrl, eventTypes, status }: WebhookSubscriptionChange,
  ): Promise<WebhookSubscriptionRecord | null> {
    const [changed = null] = await this.sql.run(CHANGE, { ...by, subscriptionId, targetUrl, eventTypes, status });
    return changed;
  }

  /** Replaces the secret of the subscription. Returns its new state, or null if there is none. */
  async rotate(
    by: ActedBy,
    subscriptionId: string,
    rotation: SecretRotation,
  ): Promise<WebhookSubscriptionRecord | null> {
    const [rotated = null] = await this.sql.run(ROTATE, { ...by, subscriptionId, ...rotation });
    return rotated;
  }

  /**
   * Deletes the subscription. Returns false if there is none. Nothing is sent to it any more, and its deliveries stay readable.
   */
  async delete(by: ActedBy, subscriptionId: string): Promise<boolean> {
    return (await this.sql.run(DELETE, { ...by, subscriptionId })).length === 1;
  }
}
