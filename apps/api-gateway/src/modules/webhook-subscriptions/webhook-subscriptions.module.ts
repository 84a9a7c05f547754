import { Module } from '@nestjs/common';
import { DeliveriesController } from './deliveries.controller';
import { DeliveryLogService } from './delivery-log.service';
import { WebhookSubscriptionService } from './webhook-subscription.service';
import { WebhookSubscriptionsController } from './webhook-subscriptions.controller';

@Module({
  controllers: [WebhookSubscriptionsController, DeliveriesController],
  providers: [WebhookSubscriptionService, DeliveryLogService],
})
export class WebhookSubscriptionsModule {}
