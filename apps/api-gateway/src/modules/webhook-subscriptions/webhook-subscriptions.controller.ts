import { DomainError, EVENT_TYPES } from '@iss/domain';
import { Controller, Get, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { oneOf } from '../../http/aliases';
import { JsonBody } from '../../http/json-body';
import { ApiAnswer, ApiErrors, object, type Schema, TIMESTAMP } from '../../http/openapi';
import { UuidParam } from '../../http/path-params';
import { QueryOf } from '../../http/query';
import { CreateWebhookSubscriptionBody, ListWebhookSubscriptionsQuery } from './webhook-subscription.dto';
import { WebhookSubscriptionService } from './webhook-subscription.service';
import {
  SUBSCRIPTION_PREFIX,
  type WebhookSubscriptionView,
  webhookSubscriptionView,
} from './webhook-subscription.views';

const TEXT: Schema = { type: 'string' };
const EVENT_TYPE_LIST: Schema = { type: 'array', items: { type: 'string', enum: EVENT_TYPES } };
const SUBSCRIPTION: Schema = object({
  subscription_id: TEXT,
  tenant_id: TEXT,
  target_url: TEXT,
  event_types: EVENT_TYPE_LIST,
  subscribed_event_types: { ...EVENT_TYPE_LIST, deprecated: true },
  status: { type: 'string', enum: ['active', 'disabled'] },
  secret_last_rotated_at: TIMESTAMP,
  disabled_at: { type: ['string', 'null'], format: 'date-time' },
  disabled_reason: { type: ['string', 'null'] },
  created_at: TIMESTAMP,
});
const SUBSCRIPTION_EXAMPLE = {
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

@ApiTags('Webhook subscriptions')
@ApiBearerAuth()
@Controller('v1/webhook-subscriptions')
export class WebhookSubscriptionsController {
  constructor(private readonly subscriptions: WebhookSubscriptionService) {}

  @Post()
  @ApiOperation({
    summary: 'Subscribe a URL to events of a tenant; answers the signing secret once. Role: tenant_reader',
  })
  @ApiBody({
    type: CreateWebhookSubscriptionBody,
    examples: {
      snapshots: {
        value: {
          tenant_id: 'acme',
          target_url: 'https://hooks.example.com/iss',
          event_types: ['identity.snapshot.created'],
        },
      },
    },
  })
  @ApiAnswer(201, 'The subscription and its secret.', object({ webhook_subscription: SUBSCRIPTION, secret: TEXT }), {
    webhook_subscription: SUBSCRIPTION_EXAMPLE,
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'payload_too_large', 'unsupported_media_type')
  async create(
    @CurrentPrincipal() principal: Principal,
    @JsonBody(CreateWebhookSubscriptionBody) body: CreateWebhookSubscriptionBody,
  ): Promise<{ webhook_subscription: WebhookSubscriptionView; secret: string }> {
    const eventTypes = oneOf(body, ['event_types', 'subscribed_event_types']);
    if (eventTypes === undefined) {
      throw new DomainError('validation_error', 'event_types is required.', [
        { path: '/event_types', message: 'event_types is required', code: 'required' },
      ]);
    }
    const { subscription, secret } = await this.subscriptions.create(principal, {
      tenantId: body.tenant_id,
      targetUrl: body.target_url,
      eventTypes,
    });
    return { webhook_subscription: webhookSubscriptionView(subscription), secret };
  }

  @Get()
  @ApiOperation({ summary: "List a tenant's webhook subscriptions. Role: tenant_reader" })
  @ApiAnswer(200, 'Every subscription of the tenant.', object({ items: { type: 'array', items: SUBSCRIPTION } }), {
    items: [SUBSCRIPTION_EXAMPLE],
  })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async list(
    @CurrentPrincipal() principal: Principal,
    @QueryOf(ListWebhookSubscriptionsQuery) query: ListWebhookSubscriptionsQuery,
  ): Promise<{ items: WebhookSubscriptionView[] }> {
    const subscriptions = await this.subscriptions.list(principal, query.tenant_id);
    return { items: subscriptions.map(webhookSubscriptionView) };
  }

  @Get(':subscription_id')
  @ApiOperation({ summary: 'Read a webhook subscription. Role: tenant_reader in its tenant' })
  @ApiParam({ name: 'subscription_id', schema: { type: 'string' }, example: SUBSCRIPTION_EXAMPLE.subscription_id })
  @ApiAnswer(200, 'The subscription.', object({ webhook_subscription: SUBSCRIPTION }), {
    webhook_subscription: SUBSCRIPTION_EXAMPLE,
  })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found')
  async get(
    @UuidParam({ name: 'subscription_id', prefix: SUBSCRIPTION_PREFIX }) subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<{ webhook_subscription: WebhookSubscriptionView }> {
    return { webhook_subscription: webhookSubscriptionView(await this.subscriptions.get(principal, subscriptionId)) };
  }
}
