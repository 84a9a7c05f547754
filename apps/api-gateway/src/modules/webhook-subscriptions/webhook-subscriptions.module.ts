import { Module } from '@nestjs/common';
import { WebhookSubscriptionService } from './webhook-subscription.service';
import { WebhookSubscriptionsController } from './webhook-subscriptions.controller';

@Module({ controllers: [WebhookSubscriptionsController], providers: [WebhookSubscriptionService] })
export class WebhookSubscriptionsModule {}
