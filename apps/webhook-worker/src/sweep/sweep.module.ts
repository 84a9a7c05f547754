import { Module } from '@nestjs/common';
import { DeliveryModule } from '../delivery/delivery.module';
import { FanoutModule } from '../fanout/fanout.module';
import { RetentionService } from './retention.service';
import { SweepService } from './sweep.service';

@Module({ imports: [FanoutModule, DeliveryModule], providers: [SweepService, RetentionService] })
export class SweepModule {}
