import { SUBSCRIPTION_PREFIX } from '@iss/domain';
import { Controller } from '@nestjs/common';
import {
  CreateWebhookSubscriptionBody,
  ListWebhookSubscriptionsQuery,
  type ItemPage,
  RotateSecretBody,
  Subscription,
  SubscriptionWithSecret,
  UpdateWebhookSubscriptionBody,
  WEBHOOK_SUBSCRIPTIONS,
  WrappedSubscription,
} from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { PageOf, type Paging } from '../../http/lists/paging';
import { JsonBody } from '../../http/request/json-body';
import { UuidParam } from '../../http/request/path-params';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import { WebhookSubscriptionService } from './webhook-subscription.service';
import { Operation } from '../../http/describe/operation.decorator';

const ID = 'subscription_id';

const SubscriptionIdParam = (): ParameterDecorator => UuidParam({ name: ID, prefix: SUBSCRIPTION_PREFIX });

@Controller()
export class WebhookSubscriptionsController {
  constructor(private readonly subscriptions: WebhookSubscriptionService) {}

  @Operation(WEBHOOK_SUBSCRIPTIONS.createWebhookSubscription)
  async createWebhookSubscription(
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody() body: CreateWebhookSubscriptionBody,
  ): Promise<SubscriptionWithSecret> {
    const made = await this.subscriptions.create(principal, trace, {
      tenantId: body.tenant_id,
      targetUrl: body.target_url,
      eventTypes: body.event_types,
      paths: body.paths ?? null,
    });
    return SubscriptionWithSecret.of(made);
  }

  @Operation(WEBHOOK_SUBSCRIPTIONS.listWebhookSubscriptions)
  async listWebhookSubscriptions(
    @CurrentPrincipal() { principalId }: Principal,
    @PageOf() paging: Paging<ListWebhookSubscriptionsQuery>,
  ): Promise<ItemPage<Subscription>> {
    const { tenant_id } = paging.query;
    const page = await this.subscriptions.page({ tenantId: tenant_id, principalId }, paging.at());
    return paging.answer(page, Subscription.of);
  }

  @Operation(WEBHOOK_SUBSCRIPTIONS.getWebhookSubscription)
  async getWebhookSubscription(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<WrappedSubscription> {
    return WrappedSubscription.of({ subscription: await this.subscriptions.get(principal, subscriptionId) });
  }

  @Operation(WEBHOOK_SUBSCRIPTIONS.updateWebhookSubscription)
  async updateWebhookSubscription(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody() { target_url, event_types, paths, status }: UpdateWebhookSubscriptionBody,
  ): Promise<WrappedSubscription> {
    const change = { targetUrl: target_url, eventTypes: event_types, paths, status };
    const subscription = await this.subscriptions.update(principal, trace, subscriptionId, change);
    return WrappedSubscription.of({ subscription });
  }

  @Operation(WEBHOOK_SUBSCRIPTIONS.rotateWebhookSecret)
  async rotateWebhookSecret(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody() { grace_seconds = 0 }: RotateSecretBody,
  ): Promise<SubscriptionWithSecret> {
    const rotated = await this.subscriptions.rotateSecret(principal, trace, subscriptionId, grace_seconds);
    return SubscriptionWithSecret.of(rotated);
  }

  @Operation(WEBHOOK_SUBSCRIPTIONS.deleteWebhookSubscription)
  async deleteWebhookSubscription(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
  ): Promise<void> {
    await this.subscriptions.delete(principal, trace, subscriptionId);
  }
}
