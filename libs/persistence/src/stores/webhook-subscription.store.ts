import type { EventType } from '@iss/domain';
import { IsNull, type DataSource, type Repository } from 'typeorm';
import { WebhookSubscriptionEntity } from '../entities/webhook-subscription.entity';

export interface NewWebhookSubscription {
  subscriptionId: string;
  tenantId: string;
  targetUrl: string;
  eventTypes: EventType[];
  secretSealed: string;
  secretFingerprint: string;
}

/** Webhook subscriptions as their tenant sees them: never with the secret. Deleted ones are gone. */
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

  /** Every subscription of the tenant, oldest first. */
  async list(tenantId: string): Promise<WebhookSubscriptionEntity[]> {
    return this.subscriptions.find({
      where: { tenantId, deletedAt: IsNull() },
      order: { createdAt: 'ASC', subscriptionId: 'ASC' },
    });
  }
}
