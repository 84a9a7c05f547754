import type { EventType, SubscriptionStatus } from '@iss/domain';
import { type Caps, DEFAULT_CAPS, limitReached } from '@iss/platform';
import { type Page, type PageRequest, toPage } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type ActedBy } from '../records/acting';
import { lockTenant } from '../tenancy/tenant-lock';

/** A webhook subscription without its secret. */
export interface WebhookSubscriptionRecord {
  /** Bare UUID. */
  subscriptionId: string;
  tenantId: string;
  targetUrl: string;
  eventTypes: EventType[];
  /** Null: every new version is announced. */
  paths: readonly string[] | null;
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
  paths: readonly string[] | null;
  /** Sealed with the subscription id as associated data. */
  secretSealed: string;
  secretFingerprint: string;
}

/** The new values. An undefined member stays unchanged. */
export interface WebhookSubscriptionChange {
  targetUrl?: string | undefined;
  eventTypes?: EventType[] | undefined;
  paths?: readonly string[] | null | undefined;
  status?: SubscriptionStatus | undefined;
}

export interface SecretRotation {
  secretSealed: string;
  secretFingerprint: string;
  /** The time for which the previous secret also signs; 0 ends it immediately. */
  graceSeconds: number;
}

interface ById {
  subscriptionId: string;
}

const CREATE = statement<
  NewWebhookSubscription & Pick<Caps, 'subscriptions_per_tenant'>,
  { subscription: WebhookSubscriptionRecord | null; cap: number }
>('webhook_subscription_create');

const FIND = statement<ById, WebhookSubscriptionRecord>('webhook_subscription_find');

const PAGE = statement<
  { tenantId: string; last: string | number | null; rows: number },
  { item: WebhookSubscriptionRecord; found: number }
>('webhook_subscriptions_of_tenant');

const CHANGE = statement<
  ActedBy & ById & Record<keyof WebhookSubscriptionChange, unknown> & { changesPaths: boolean },
  WebhookSubscriptionRecord
>('webhook_subscription_change');

const ROTATE = statement<ActedBy & ById & SecretRotation, WebhookSubscriptionRecord>('webhook_subscription_rotate');

const DELETE = statement<ActedBy & ById, ById>('webhook_subscription_delete');

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
    const rows = await this.sql.run(PAGE, { tenantId, last: after?.[0] ?? null, rows: limit + 1 });
    return toPage(
      rows,
      limit,
      ({ item }) => item,
      ({ item: { subscriptionId } }) => [subscriptionId],
      rows[0]?.found,
    );
  }

  /** Changes the subscription. Returns its new state, or null if there is none. */
  async update(
    by: ActedBy,
    subscriptionId: string,
    { targetUrl, eventTypes, paths, status }: WebhookSubscriptionChange,
  ): Promise<WebhookSubscriptionRecord | null> {
    const change = { targetUrl, eventTypes, paths, changesPaths: paths !== undefined, status };
    const [changed = null] = await this.sql.run(CHANGE, { ...by, subscriptionId, ...change });
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
