import { RULES } from '@iss/domain';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { JsonBody } from '../../http/request/json-body';
import type { JsonText } from '../../http/answer/json-text';
import { ApiAnswer, ApiErrors, ApiPathParam, ApiRoute, object, UUID } from '../../http/describe/openapi';
import { listExample, listSchema, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { UuidParam } from '../../http/request/path-params';
import { QueryOf } from '../../http/lists/query';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import { ListDeliveriesQuery, ReplayBody } from './delivery.dto';
import { DeliveryLogService } from './delivery-log.service';
import {
  DELIVERY,
  DELIVERY_EXAMPLE,
  DELIVERY_WITH_PAYLOAD,
  DELIVERY_WITH_PAYLOAD_EXAMPLE,
  type DeliveryView,
  deliveryView,
  deliveryWithPayload,
  PENDING_EXAMPLE,
  TEST_EXAMPLE,
} from './delivery.views';
import { SUBSCRIPTION_PREFIX } from './subscription-id';
import { ApiSubscriptionParam } from './webhook-subscription.views';

const ID = 'delivery_id';

const SubscriptionIdParam = (): ParameterDecorator =>
  UuidParam({ name: 'subscription_id', prefix: SUBSCRIPTION_PREFIX });
const ApiDeliveryParam = (): MethodDecorator =>
  ApiPathParam(ID, 'A delivery to the subscription.', UUID, DELIVERY_EXAMPLE.delivery_id);

@ApiTags('Webhook subscriptions')
@ApiBearerAuth()
@Controller('v1/webhook-subscriptions/:subscription_id')
export class DeliveriesController {
  constructor(private readonly log: DeliveryLogService) {}

  @Get('deliveries')
  @ApiRoute('Deliveries to a webhook subscription, newest first', RULES.useWebhooks, {
    description: 'With their attempts; of a deleted subscription too.',
  })
  @ApiSubscriptionParam()
  @ApiAnswer(200, 'One page.', listSchema(DELIVERY), listExample([DELIVERY_EXAMPLE], 50))
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found')
  async list(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @QueryOf(ListDeliveriesQuery) { status, event_type, from, to }: ListDeliveriesQuery,
    @PageOf({ default: 50, max: 200 }) paging: Paging,
  ): Promise<{ items: DeliveryView[] } & PageView> {
    const filter = { status: status ?? null, eventType: event_type ?? null, from: from ?? null, to: to ?? null };
    const at = paging.at({ status, event_type, from, to });
    return paging.answer(await this.log.page({ subscriptionId, principalId }, filter, at), deliveryView);
  }

  @Get(`deliveries/:${ID}`)
  @ApiRoute('One delivery, with its payload', RULES.useWebhooks)
  @ApiSubscriptionParam()
  @ApiDeliveryParam()
  @ApiAnswer(200, 'The delivery.', DELIVERY_WITH_PAYLOAD, DELIVERY_WITH_PAYLOAD_EXAMPLE)
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found')
  async find(
    @SubscriptionIdParam() subscriptionId: string,
    @UuidParam({ name: ID }) deliveryId: string,
    @CurrentPrincipal() { principalId }: Principal,
  ): Promise<JsonText> {
    return deliveryWithPayload(await this.log.find({ subscriptionId, principalId }, deliveryId));
  }

  @Post(`deliveries/:${ID}/redeliver`)
  @HttpCode(202)
  @ApiRoute('Send a finished delivery again', RULES.useWebhooks, {
    description: 'Under the same `webhook-id`, with its retry schedule from the start; attempts are numbered on.',
  })
  @ApiSubscriptionParam()
  @ApiDeliveryParam()
  @ApiAnswer(202, 'The delivery, which is due now.', DELIVERY, PENDING_EXAMPLE)
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found', 'conflict')
  async redeliver(
    @SubscriptionIdParam() subscriptionId: string,
    @UuidParam({ name: ID }) deliveryId: string,
    @CurrentPrincipal() { principalId }: Principal,
  ): Promise<DeliveryView> {
    return deliveryView(await this.log.redeliver({ subscriptionId, principalId }, deliveryId));
  }

  @Post('deliveries/replay')
  @HttpCode(202)
  @ApiRoute('Send finished deliveries of a period again', RULES.useWebhooks, {
    description:
      'The oldest first, at most 1,000 a call. While `has_more` is true, call again with `next_from` as `from`. Both times are inclusive.',
  })
  @ApiSubscriptionParam()
  @ApiBody({
    type: ReplayBody,
    examples: {
      missed: { value: { from: '2026-01-15T00:00:00Z' } },
      dead: { value: { from: '2026-01-15T00:00:00Z', to: '2026-01-16T00:00:00Z', status: 'dead' } },
    },
  })
  @ApiAnswer(
    202,
    'How many deliveries are due now.',
    object({
      count: { type: 'integer' },
      has_more: { type: 'boolean' },
      next_from: { type: ['string', 'null'], format: 'date-time' },
    }),
    { count: 1, has_more: false, next_from: null },
  )
  @ApiErrors(
    'validation_error',
    'unauthorized',
    'forbidden',
    'not_found',
    'conflict',
    'payload_too_large',
    'unsupported_media_type',
  )
  async replay(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @JsonBody(ReplayBody) { from, to, status }: ReplayBody,
  ): Promise<{ count: number; has_more: boolean; next_from: string | null }> {
    const request = { from, to: to ?? null, status: status ?? null };
    const { count, nextFrom } = await this.log.replay({ subscriptionId, principalId }, request);
    return { count, has_more: nextFrom !== null, next_from: nextFrom?.toISOString() ?? null };
  }

  @Post('test')
  @HttpCode(202)
  @ApiRoute('Send a `webhook.test` event to this subscription', RULES.useWebhooks, {
    description: 'To this one only, whatever event types it names. The delivery log tells what became of it.',
  })
  @ApiSubscriptionParam()
  @ApiAnswer(202, 'The delivery, which is due now.', DELIVERY, TEST_EXAMPLE)
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found', 'conflict')
  async test(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() { requestId, traceparent }: RequestTrace,
  ): Promise<DeliveryView> {
    return deliveryView(await this.log.test({ subscriptionId, principalId }, { requestId, traceparent }));
  }
}
