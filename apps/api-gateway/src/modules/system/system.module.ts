import { BacklogStore } from '@iss/persistence';
import { watchBacklog } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { ReadinessService } from './readiness.service';
import { SystemController } from './system.controller';

@Module({
  controllers: [SystemController],
  providers: [ReadinessService],
  exports: [ReadinessService],
})
export class SystemModule {
  constructor(metrics: Registry, backlog: BacklogStore, queue: EventQueue) {
    watchBacklog(metrics, backlog, queue);
  }
}
