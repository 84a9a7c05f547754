import { Module } from '@nestjs/common';
import { DeliveryModule } from '../delivery/delivery.module';
import { HealthModule } from '../health/health.module';
import { FanoutService } from './fanout.service';

@Module({ imports: [DeliveryModule, HealthModule], providers: [FanoutService], exports: [FanoutService] })
export class FanoutModule {}
