import { randomUUID } from 'node:crypto';
import { DomainError, type EventType, newWebhookSecret, secretFingerprint } from '@iss/domain';
import { type WebhookSubscriptionEntity, WebhookSubscriptionStore } from '@iss/persistence';
import { SecretBox } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { AccessService } from '../../access/access.service';
import { RULES } from '../../access/rules';
import type { Principal } from '../../auth/principal';
import { type GatewaySettings, SETTINGS } from '../../settings';

export interface SubscriptionToCreate {
  tenantId: string;
  targetUrl: string;
  eventTypes: EventType[];
}

/** Where a tenant's events go. */
@Injectable()
export class WebhookSubscriptionService {
  constructor(
    private readonly access: AccessService,
    private readonly subscriptions: WebhookSubscriptionStore,
    private readonly secrets: SecretBox,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /** Stores a subscription and makes its secret, which is readable in this answer only. */
  async create(
    principal: Principal,
    input: SubscriptionToCreate,
  ): Promise<{ subscription: WebhookSubscriptionEntity; secret: string }> {
    await this.access.require(input.tenantId, principal.principalId, RULES.useWebhooks);
    const targetUrl = this.requireTarget(input.targetUrl);
    const subscriptionId = randomUUID();
    const secret = newWebhookSecret();
    const subscription = await this.subscriptions.create({
      subscriptionId,
      tenantId: input.tenantId,
      targetUrl,
      eventTypes: input.eventTypes,
      secretSealed: this.secrets.seal(secret, subscriptionId),
      secretFingerprint: secretFingerprint(secret),
    });
    return { subscription, secret };
  }

  async list(principal: Principal, tenantId: string): Promise<WebhookSubscriptionEntity[]> {
    await this.access.require(tenantId, principal.principalId, RULES.useWebhooks);
    return this.subscriptions.list(tenantId);
  }

  async get(principal: Principal, subscriptionId: string): Promise<WebhookSubscriptionEntity> {
    const subscription = await this.subscriptions.find(subscriptionId);
    if (subscription === null) throw new DomainError('not_found', 'No such webhook subscription.');
    await this.access.require(subscription.tenantId, principal.principalId, RULES.useWebhooks);
    return subscription;
  }

  /** An absolute https: URL without credentials; http: where private targets are allowed (development). */
  private requireTarget(text: string): string {
    const trimmed = text.trim();
    const url = URL.canParse(trimmed) ? new URL(trimmed) : null;
    const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && this.settings.allowPrivateTargets);
    // A URL parser drops line breaks; what is stored must be what was meant.
    if (!isAllowed || url === null || url.username !== '' || url.password !== '' || /[\p{Cc}\s]/u.test(trimmed)) {
      throw new DomainError('validation_error', 'target_url must be an https: URL without credentials.', [
        { path: '/target_url', message: 'must be an absolute https: URL without credentials', code: 'invalid_format' },
      ]);
    }
    return trimmed;
  }
}
