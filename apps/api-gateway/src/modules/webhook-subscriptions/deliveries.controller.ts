import { SUBSCRIPTION_PREFIX } from '@iss/domain';
import { Controller } from '@nestjs/common';
import {
  DELIVERIES,
  Delivery,
  DeliveryWithPayload,
  ListDeliveriesQuery,
  type ItemPage,
  ReplayBody,
  Replayed,
} from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { JsonText } from '../../http/answer/json-text';
import { PageOf, type Paging } from '../../http/lists/paging';
import { JsonBody } from '../../http/request/json-body';
import { UuidParam } from '../../http/request/path-params';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import { DeliveryLogService } from './delivery-log.service';
import { Operation } from '../../http/describe/operation.decorator';

const ID = 'delivery_id';

const SubscriptionIdParam = (): ParameterDecorator =>
  UuidParam({ name: 'subscription_id', prefix: SUBSCRIPTION_PREFIX });

@Controller()
export class DeliveriesController {
  constructor(private readonly log: DeliveryLogService) {}

  @Operation(DELIVERIES.listDeliveries)
  async listDeliveries(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @PageOf() paging: Paging<ListDeliveriesQuery>,
  ): Promise<ItemPage<Delivery>> {
    const { status, event_type, from, to } = paging.query;
    const filter = { status: status ?? null, eventType: event_type ?? null, from: from ?? null, to: to ?? null };
    return paging.answer(await this.log.page({ subscriptionId, principalId }, filter, paging.at()), Delivery.of);
  }

  @Operation(DELIVERIES.getDelivery)
  async getDelivery(
    @SubscriptionIdParam() subscriptionId: string,
    @UuidParam({ name: ID }) deliveryId: string,
    @CurrentPrincipal() { principalId }: Principal,
  ): Promise<JsonText> {
    return new JsonText(DeliveryWithPayload.textOf(await this.log.find({ subscriptionId, principalId }, deliveryId)));
  }

  @Operation(DELIVERIES.redeliverDelivery)
  async redeliverDelivery(
    @SubscriptionIdParam() subscriptionId: string,
    @UuidParam({ name: ID }) deliveryId: string,
    @CurrentPrincipal() { principalId }: Principal,
  ): Promise<Delivery> {
    return Delivery.of(await this.log.redeliver({ subscriptionId, principalId }, deliveryId));
  }

  @Operation(DELIVERIES.replayDeliveries)
  async replayDeliveries(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @JsonBody() { from, to, status }: ReplayBody,
  ): Promise<Replayed> {
    const request = { from, to: to ?? null, status: status ?? null };
    const { count, nextFrom } = await this.log.replay({ subscriptionId, principalId }, request);
    return Replayed.of({ count, hasMore: nextFrom !== null, nextFrom });
  }

  @Operation(DELIVERIES.testWebhookSubscription)
  async testWebhookSubscription(
    @SubscriptionIdParam() subscriptionId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() { requestId, traceparent }: RequestTrace,
  ): Promise<Delivery> {
    return Delivery.of(await this.log.test({ subscriptionId, principalId }, { requestId, traceparent }));
  }
}
