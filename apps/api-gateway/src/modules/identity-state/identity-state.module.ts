import { Module } from '@nestjs/common';
import { EntityStateService } from './entity-state.service';
import { EntityStatesController } from './entity-states.controller';
import { SnapshotReadService } from './snapshot-read.service';
import { SnapshotsController } from './snapshots.controller';
import { UpdateService } from './update.service';
import { UpdatesController } from './updates.controller';

@Module({
  controllers: [EntityStatesController, UpdatesController, SnapshotsController],
  providers: [EntityStateService, UpdateService, SnapshotReadService],
})
export class IdentityStateModule {}
