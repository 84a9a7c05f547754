import { Module } from '@nestjs/common';
import { ConnectionDrain } from '../../http/connection-drain';
import { ReadinessService } from './readiness.service';
import { SystemController } from './system.controller';

@Module({
  controllers: [SystemController],
  providers: [ReadinessService, ConnectionDrain],
  exports: [ReadinessService],
})
export class SystemModule {}
