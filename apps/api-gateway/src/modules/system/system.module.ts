import { Module } from '@nestjs/common';
import { ReadinessService } from './readiness.service';
import { SystemController } from './system.controller';

@Module({
  controllers: [SystemController],
  providers: [ReadinessService],
  exports: [ReadinessService],
})
export class SystemModule {}
