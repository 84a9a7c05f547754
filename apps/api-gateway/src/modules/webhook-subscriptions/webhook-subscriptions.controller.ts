import { RULES, SUBSCRIPTION_PREFIX } from '@iss/domain';
import { Controller, Delete, Get, Patch, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { JsonBody, OptionalJsonBody } from '../../http/request/json-body';
import { UuidParam } from '../../http/request/path-params';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import { WebhookSubscriptionService } from './webhook-subscription.service';
import {
  CreateWebhookSubscriptionBody,
  ListWebhookSubscriptionsQuery,
  RotateSecretBody,
  secretAnswer,
  Subscription,
  SUBSCRIPTION,
  subscriptionAnswer,
  SubscriptionWithSecret,
  UpdateWebhookSubscriptionBody,
  WrappedSubscription,
} from './webhook-subscription.views';

const BOTH_NAMES = '`event_types` and `subscribed_event_types` name the same field.';
const ID = 'subscription_id';

const SubscriptionIdParam = (): ParameterDecorator => UuidParam({ name: ID, prefix: SUBSCRIPTION_PREFIX });

@ApiTags('Webhook subscriptions')
@ApiBearerAuth()
@Controller('v1/webhook-subscriptions')
export class WebhookSubscriptionsController {
  constructor(private readonly subscriptions: WebhookSubscriptionService) {}

  @Post()
  @ApiRoute('Subscribe a URL to events of a tenant', RULES.useWebhooks, {
    description: `The signing secret appears only in this response. ${BOTH_NAMES} See [/docs/webhooks](/docs/webhooks).`,
    answers: { 201: secretAnswer('The subscription and its secret.') },
  })
  async createWebhookSubscription(
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody(CreateWebhookSubscriptionBody) body: CreateWebhookSubscriptionBody,
  ): Promise<SubscriptionWithSecret> {
    const made = await this.subscriptions.create(principal, trace, {
      tenantId: body.tenant_id,
      targetUrl: body.target_url,
      eventTypes: body.event_types,
    });
    return SubscriptionWithSecret.of(made);
  }

  @Get()
  @ApiRoute('List the webhook subscriptions of a tenant, oldest first', RULES.useWebhooks, {
    answers: { 200: pageAnswer('One page.', Subscription, [Subscription.of(SUBSCRIPTION)]) },
  })
  async listWebhookSubscriptions(
    @CurrentPrincipal() { principalId }: Principal,
    @PageOf(ListWebhookSubscriptionsQuery) paging: Paging<ListWebhookSubscriptionsQuery>,
  ): Promise<{ items: Subscription[] } & PageView> {
    const { tenant_id } = paging.query;
    const page = await this.subscriptions.page({ tenantId: tenant_id, principalId }, paging.at());
    return paging.answer(page, Subscription.of);
  }

  @Get(`:${ID}`)
  @ApiRoute('Read a webhook subscription', RULES.useWebhooks, {
    answers: { 200: subscriptionAnswer('The subscription.') },
    errors: ['not_found'],
  })
  async getWebhookSubscription(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<WrappedSubscription> {
    return WrappedSubscription.of({ subscription: await this.subscriptions.get(principal, subscriptionId) });
  }

  @Patch(`:${ID}`)
  @ApiRoute('Change, disable or enable a webhook subscription', RULES.useWebhooks, {
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
  })
  async updateWebhookSubscription(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody(UpdateWebhookSubscriptionBody) { target_url, event_types, status }: UpdateWebhookSubscriptionBody,
  ): Promise<WrappedSubscription> {
    const change = { targetUrl: target_url, eventTypes: event_types, status };
    const subscription = await this.subscriptions.update(principal, trace, subscriptionId, change);
    return WrappedSubscription.of({ subscription });
  }

  @Post(`:${ID}/rotate-secret`)
  @ApiRoute('Replace the secret of a webhook subscription', RULES.useWebhooks, {
    description: 'The new secret appears only in this response and signs deliveries immediately. The body is optional.',
    answers: { 200: secretAnswer('The subscription and its new secret.', new Date('2026-02-01T00:00:00Z')) },
    errors: ['not_found'],
  })
  async rotateWebhookSecret(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
    @OptionalJsonBody(RotateSecretBody) { grace_seconds = 0 }: RotateSecretBody,
  ): Promise<SubscriptionWithSecret> {
    const rotated = await this.subscriptions.rotateSecret(principal, trace, subscriptionId, grace_seconds);
    return SubscriptionWithSecret.of(rotated);
  }

  @Delete(`:${ID}`)
  @ApiRoute('Delete a webhook subscription', RULES.useWebhooks, {
    description: 'No more events are sent. The delivery log stays readable.',
    answers: { 204: { description: 'The subscription is deleted.' } },
    errors: ['not_found'],
  })
  async deleteWebhookSubscription(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
  ): Promise<void> {
    await this.subscriptions.delete(principal, trace, subscriptionId);
  }
}
