import { RULES } from '@iss/domain';
import { Controller, Delete, Get, HttpCode, Patch, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiResponse, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { oneOf } from '../../http/request/aliases';
import { JsonBody, OptionalJsonBody } from '../../http/request/json-body';
import { ApiAnswer, ApiErrors, ApiRoute, object } from '../../http/describe/openapi';
import { listExample, listSchema, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { UuidParam } from '../../http/request/path-params';
import { QueryOf } from '../../http/lists/query';
import { SUBSCRIPTION_PREFIX } from './subscription-id';
import {
  CreateWebhookSubscriptionBody,
  ListWebhookSubscriptionsQuery,
  RotateSecretBody,
  UpdateWebhookSubscriptionBody,
} from './webhook-subscription.dto';
import { WebhookSubscriptionService } from './webhook-subscription.service';
import {
  ApiSubscriptionParam,
  SUBSCRIPTION,
  SUBSCRIPTION_EXAMPLE,
  type WebhookSubscriptionView,
  webhookSubscriptionView,
} from './webhook-subscription.views';

const WRAPPED = object({ webhook_subscription: SUBSCRIPTION });
const WITH_SECRET = object({
  webhook_subscription: SUBSCRIPTION,
  secret: { type: 'string', pattern: '^whsec_[A-Za-z0-9+/]{43}=$' },
});
const SECRET_EXAMPLE = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
const BOTH_NAMES = '`event_types` and `subscribed_event_types` are names of one field.';
const ID = 'subscription_id';

const SubscriptionIdParam = (): ParameterDecorator => UuidParam({ name: ID, prefix: SUBSCRIPTION_PREFIX });

@ApiTags('Webhook subscriptions')
@ApiBearerAuth()
@Controller('v1/webhook-subscriptions')
export class WebhookSubscriptionsController {
  constructor(private readonly subscriptions: WebhookSubscriptionService) {}

  @Post()
  @ApiRoute('Subscribe a URL to events of a tenant', RULES.useWebhooks, {
    description: `The signing secret is in this answer and in no other. ${BOTH_NAMES}`,
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
  @ApiAnswer(201, 'The subscription and its secret.', WITH_SECRET, {
    webhook_subscription: SUBSCRIPTION_EXAMPLE,
    secret: SECRET_EXAMPLE,
  })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'payload_too_large', 'unsupported_media_type')
  async create(
    @CurrentPrincipal() principal: Principal,
    @JsonBody(CreateWebhookSubscriptionBody) body: CreateWebhookSubscriptionBody,
  ): Promise<{ webhook_subscription: WebhookSubscriptionView; secret: string }> {
    const { subscription, secret } = await this.subscriptions.create(principal, {
      tenantId: body.tenant_id,
      targetUrl: body.target_url,
      eventTypes: oneOf(body, ['event_types', 'subscribed_event_types']),
    });
    return { webhook_subscription: webhookSubscriptionView(subscription), secret };
  }

  @Get()
  @ApiRoute('Webhook subscriptions of a tenant, oldest first', RULES.useWebhooks)
  @ApiAnswer(200, 'One page.', listSchema(SUBSCRIPTION), listExample([SUBSCRIPTION_EXAMPLE], 200))
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async list(
    @CurrentPrincipal() { principalId }: Principal,
    @QueryOf(ListWebhookSubscriptionsQuery) { tenant_id }: ListWebhookSubscriptionsQuery,
    @PageOf({ default: 200, max: 200 }) paging: Paging,
  ): Promise<{ items: WebhookSubscriptionView[] } & PageView> {
    const page = await this.subscriptions.page({ tenantId: tenant_id, principalId }, paging.at({ tenant_id }));
    return paging.answer(page, webhookSubscriptionView);
  }

  @Get(`:${ID}`)
  @ApiRoute('One webhook subscription', RULES.useWebhooks)
  @ApiSubscriptionParam()
  @ApiAnswer(200, 'The subscription.', WRAPPED, { webhook_subscription: SUBSCRIPTION_EXAMPLE })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found')
  async get(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<{ webhook_subscription: WebhookSubscriptionView }> {
    return { webhook_subscription: webhookSubscriptionView(await this.subscriptions.get(principal, subscriptionId)) };
  }

  @Patch(`:${ID}`)
  @ApiRoute('Change, disable or enable a webhook subscription', RULES.useWebhooks, {
    description: `What is left out stays. While a subscription is \`disabled\` its events are recorded as \`skipped\`, and can be replayed when it is \`active\` again. ${BOTH_NAMES}`,
  })
  @ApiSubscriptionParam()
  @ApiBody({
    type: UpdateWebhookSubscriptionBody,
    examples: {
      disable: { value: { status: 'disabled' } },
      enable: { value: { status: 'active' } },
      redirect: {
        value: {
          target_url: 'https://hooks.example.com/iss-v2',
          event_types: ['identity.snapshot.created', 'refresh_request.created'],
        },
      },
    },
  })
  @ApiAnswer(200, 'The subscription after the change.', WRAPPED, {
    webhook_subscription: {
      ...SUBSCRIPTION_EXAMPLE,
      status: 'disabled',
      disabled_at: '2026-02-01T00:00:00.000Z',
      disabled_reason: 'requested',
    },
  })
  @ApiErrors(
    'validation_error',
    'unauthorized',
    'forbidden',
    'not_found',
    'payload_too_large',
    'unsupported_media_type',
  )
  async update(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
    @JsonBody(UpdateWebhookSubscriptionBody) body: UpdateWebhookSubscriptionBody,
  ): Promise<{ webhook_subscription: WebhookSubscriptionView }> {
    const subscription = await this.subscriptions.update(principal, subscriptionId, {
      targetUrl: body.target_url,
      eventTypes: oneOf(body, ['event_types', 'subscribed_event_types']),
      status: body.status,
    });
    return { webhook_subscription: webhookSubscriptionView(subscription) };
  }

  @Post(`:${ID}/rotate-secret`)
  @HttpCode(200)
  @ApiRoute('Give a webhook subscription another secret', RULES.useWebhooks, {
    description:
      'The new secret is in this answer and in no other; deliveries are signed with it at once. The body may be left out.',
  })
  @ApiSubscriptionParam()
  @ApiBody({
    type: RotateSecretBody,
    required: false,
    examples: { now: { value: {} }, overlapping: { value: { grace_seconds: 86_400 } } },
  })
  @ApiAnswer(200, 'The subscription and its new secret.', WITH_SECRET, {
    webhook_subscription: { ...SUBSCRIPTION_EXAMPLE, secret_last_rotated_at: '2026-02-01T00:00:00.000Z' },
    secret: SECRET_EXAMPLE,
  })
  @ApiErrors(
    'validation_error',
    'unauthorized',
    'forbidden',
    'not_found',
    'payload_too_large',
    'unsupported_media_type',
  )
  async rotateSecret(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() principal: Principal,
    @OptionalJsonBody(RotateSecretBody) body: RotateSecretBody,
  ): Promise<{ webhook_subscription: WebhookSubscriptionView; secret: string }> {
    const graceSeconds = body.grace_seconds ?? 0;
    const { subscription, secret } = await this.subscriptions.rotateSecret(principal, subscriptionId, graceSeconds);
    return { webhook_subscription: webhookSubscriptionView(subscription), secret };
  }

  @Delete(`:${ID}`)
  @HttpCode(204)
  @ApiRoute('End a webhook subscription', RULES.useWebhooks, {
    description: 'Nothing is sent any more. Its delivery log stays readable.',
  })
  @ApiSubscriptionParam()
  @ApiResponse({ status: 204, description: 'It has ended.' })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found')
  async delete(@SubscriptionIdParam() subscriptionId: string, @CurrentPrincipal() principal: Principal): Promise<void> {
    await this.subscriptions.delete(principal, subscriptionId);
  }
}
