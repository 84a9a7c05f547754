import { RULES, SUBSCRIPTION_PREFIX } from '@iss/domain';
import { Controller, Get, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { JsonText } from '../../http/answer/json-text';
import { answer, ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { JsonBody } from '../../http/request/json-body';
import { UuidParam } from '../../http/request/path-params';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import { DeliveryLogService } from './delivery-log.service';
import {
  DEAD,
  Delivery,
  DeliveryWithPayload,
  ListDeliveriesQuery,
  REDELIVERED,
  ReplayBody,
  Replayed,
  TEST,
} from './delivery.views';

const ID = 'delivery_id';

const SubscriptionIdParam = (): ParameterDecorator =>
  UuidParam({ name: 'subscription_id', prefix: SUBSCRIPTION_PREFIX });

@ApiTags('Webhook subscriptions')
@ApiBearerAuth()
@Controller('v1/webhook-subscriptions/:subscription_id')
export class DeliveriesController {
  constructor(private readonly log: DeliveryLogService) {}

  @Get('deliveries')
  @ApiRoute('List the deliveries to a webhook subscription, newest first', RULES.useWebhooks, {
    description:
      'Each delivery has its attempts. Deliveries to a deleted subscription stay readable. A request examines ' +
      'at most 10,000 deliveries, so a filtered page may be short or empty and still have a `next_cursor`.',
    answers: { 200: pageAnswer('One page.', Delivery, [Delivery.of(DEAD)]) },
    errors: ['not_found'],
  })
  async listDeliveries(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @PageOf(ListDeliveriesQuery) paging: Paging<ListDeliveriesQuery>,
  ): Promise<{ items: Delivery[] } & PageView> {
    const { status, event_type, from, to } = paging.query;
    const filter = { status: status ?? null, eventType: event_type ?? null, from: from ?? null, to: to ?? null };
    return paging.answer(await this.log.page({ subscriptionId, principalId }, filter, paging.at()), Delivery.of);
  }

  @Get(`deliveries/:${ID}`)
  @ApiRoute('Read a delivery, with its payload', RULES.useWebhooks, {
    answers: { 200: answer('The delivery.', DeliveryWithPayload, DeliveryWithPayload.of(DEAD)) },
    errors: ['not_found'],
  })
  async getDelivery(
    @SubscriptionIdParam() subscriptionId: string,
    @UuidParam({ name: ID }) deliveryId: string,
    @CurrentPrincipal() { principalId }: Principal,
  ): Promise<JsonText> {
    return new JsonText(DeliveryWithPayload.textOf(await this.log.find({ subscriptionId, principalId }, deliveryId)));
  }

  @Post(`deliveries/:${ID}/redeliver`)
  @ApiRoute('Send a finished delivery again', RULES.useWebhooks, {
    description: 'The delivery keeps its `webhook-id`. Its retry schedule restarts, and attempts are numbered on.',
    answers: { 202: answer('The delivery, which is due now.', Delivery, Delivery.of(REDELIVERED)) },
    errors: ['not_found', 'conflict'],
  })
  async redeliverDelivery(
    @SubscriptionIdParam() subscriptionId: string,
    @UuidParam({ name: ID }) deliveryId: string,
    @CurrentPrincipal() { principalId }: Principal,
  ): Promise<Delivery> {
    return Delivery.of(await this.log.redeliver({ subscriptionId, principalId }, deliveryId));
  }

  @Post('deliveries/replay')
  @ApiRoute('Send the finished deliveries of a period again', RULES.useWebhooks, {
    description:
      'A call sends at most 1,000 deliveries, oldest first, and examines at most 50,000. While `has_more` is ' +
      'true, call again with `next_from` as `from`. Both times are inclusive.',
    answers: {
      202: answer('The number of deliveries that are now due.', Replayed, {
        count: 1,
        has_more: false,
        next_from: null,
      }),
    },
    errors: ['not_found', 'conflict'],
  })
  async replayDeliveries(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @JsonBody(ReplayBody) { from, to, status }: ReplayBody,
  ): Promise<Replayed> {
    const request = { from, to: to ?? null, status: status ?? null };
    const { count, nextFrom } = await this.log.replay({ subscriptionId, principalId }, request);
    return Replayed.of({ count, hasMore: nextFrom !== null, nextFrom });
  }

  @Post('test')
  @ApiRoute('Send a `webhook.test` event to this subscription', RULES.useWebhooks, {
    description:
      'Only this subscription gets the event, whatever event types it names. The delivery log shows the result.',
    answers: { 202: answer('The delivery, which is due now.', Delivery, Delivery.of(TEST)) },
    errors: ['not_found', 'conflict'],
  })
  async testWebhookSubscription(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() { requestId, traceparent }: RequestTrace,
  ): Promise<Delivery> {
    return Delivery.of(await this.log.test({ subscriptionId, principalId }, { requestId, traceparent }));
  }
}
