import type { EventType, SubscriptionStatus } from '@iss/domain';
import { type DataSource, IsNull, type QueryDeepPartialEntity, type Repository } from 'typeorm';
import { WebhookSubscriptionEntity } from '../../entities/webhook-subscription.entity';
import { type Page, type PageRequest, toPage } from '../../sql/page';

export interface NewWebhookSubscription {
  subscriptionId: string;
  tenantId: string;
  targetUrl: string;
  eventTypes: EventType[];
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

type Columns = QueryDeepPartialEntity<WebhookSubscriptionEntity>;

/** Why and since when is told once: disabling what is disabled changes nothing. */
const STATUS_COLUMNS: Record<SubscriptionStatus, Columns> = {
  active: { status: 'active', disabledAt: null, disabledReason: null, failingSince: null },
  disabled: {
    status: 'disabled',
    disabledAt: () => 'coalesce(disabled_at, now())',
    disabledReason: () => `coalesce(disabled_reason, 'requested')`,
  },
};

/**
 * Webhook subscriptions as their tenant sees them: never with the secret. Deleted ones are gone. Each change is one
 * statement, so that of many changes at once each finds the subscription as the one before it left it.
 */
export class WebhookSubscriptionStore {
  private readonly subscriptions: Repository<WebhookSubscriptionEntity>;

  constructor(dataSource: DataSource) {
    this.subscriptions = dataSource.getRepository(WebhookSubscriptionEntity);
  }

  async create(subscription: NewWebhookSubscription): Promise<WebhookSubscriptionEntity> {
    await this.subscriptions.insert({ ...subscription, status: 'active' });
    return this.subscriptions.findOneByOrFail({ subscriptionId: subscription.subscriptionId });
  }

  async find(subscriptionId: string): Promise<WebhookSubscriptionEntity | null> {
    return this.subscriptions.findOneBy({ subscriptionId, deletedAt: IsNull() });
  }

  /** A page of the tenant's subscriptions, oldest first. Its position is the id of the last one. */
  async page(tenantId: string, { limit, after }: PageRequest): Promise<Page<WebhookSubscriptionEntity>> {
    const query = this.subscriptions
      .createQueryBuilder('s')
      .where({ tenantId, deletedAt: IsNull() })
      .orderBy({ 's.createdAt': 'ASC', 's.subscriptionId': 'ASC' })
      .limit(limit + 1);
    if (after !== null) {
      // The row of a deleted subscription stays, so that its place does too.
      query.andWhere(
        `(s.created_at, s.subscription_id) >
           (SELECT a.created_at, a.subscription_id FROM webhook_subscriptions a WHERE a.subscription_id = :last)`,
        { last: after[0] },
      );
    }
    return toPage(
      await query.getMany(),
      limit,
      (subscription) => subscription,
      ({ subscriptionId }) => [subscriptionId],
    );
  }

  /** Answers the subscription after the change, or null when there is none. */
  async update(subscriptionId: string, change: WebhookSubscriptionChange): Promise<WebhookSubscriptionEntity | null> {
    const { targetUrl, eventTypes, status } = change;
    const columns: Columns = {
      ...(targetUrl === undefined ? {} : { targetUrl }),
      ...(eventTypes === undefined ? {} : { eventTypes }),
      ...(status === undefined ? {} : STATUS_COLUMNS[status]),
    };
    if (Object.keys(columns).length > 0) await this.set(subscriptionId, columns);
    return this.find(subscriptionId);
  }

  /** Gives the subscription another secret, or answers null when there is none. */
  async rotate(subscriptionId: string, rotation: SecretRotation): Promise<WebhookSubscriptionEntity | null> {
    const { secretSealed, secretFingerprint, graceSeconds } = rotation;
    await this.set(
      subscriptionId,
      {
        secretSealed,
        secretFingerprint,
        secretLastRotatedAt: () => 'now()',
        ...(graceSeconds === 0
          ? { previousSecretSealed: null, previousSecretUntil: null }
          : {
              // The value before this statement.
              previousSecretSealed: () => 'secret_sealed',
              previousSecretUntil: () => 'now() + make_interval(secs => :graceSeconds)',
            }),
      },
      { graceSeconds },
    );
    return this.find(subscriptionId);
  }

  /** Ends the subscription; false when there is none. Nothing is sent to it from then on, its deliveries stay readable. */
  async delete(subscriptionId: string): Promise<boolean> {
    return this.set(subscriptionId, { deletedAt: () => 'now()' });
  }

  private async set(subscriptionId: string, columns: Columns, parameters = {}): Promise<boolean> {
    const { affected } = await this.subscriptions
      .createQueryBuilder()
      .update()
      .set(columns)
      .where({ subscriptionId, deletedAt: IsNull() })
      .setParameters(parameters)
      .execute();
    return affected === 1;
  }
}
