import { type DynamicModule, Module } from '@nestjs/common';
import type { GatewaySettings } from '../../settings';
import { DiffController } from './diff.controller';
import { DiffService } from './diff.service';
import { EntityStateService } from './entity-state.service';
import { EntityStatesController } from './entity-states.controller';
import { ExportController } from './export.controller';
import { LegacyEntityStateService } from './legacy-entity-state.service';
import { LegacyEntityStatesController } from './legacy-entity-states.controller';
import { SnapshotListService } from './snapshot-list.service';
import { SnapshotListsController } from './snapshot-lists.controller';
import { RecentAnswers } from './recent-answers';
import { SnapshotReadService } from './snapshot-read.service';
import { SnapshotVerifier } from './snapshot-verifier';
import { SnapshotsController } from './snapshots.controller';
import { UpdateApplyService } from './update-apply.service';
import { UpdateService } from './update.service';
import { UpdatesController } from './updates.controller';

@Module({
  controllers: [
    DiffController,
    EntityStatesController,
    UpdatesController,
    SnapshotsController,
    SnapshotListsController,
    ExportController,
  ],
  providers: [
    DiffService,
    EntityStateService,
    UpdateService,
    UpdateApplyService,
    RecentAnswers,
    SnapshotReadService,
    SnapshotListService,
    SnapshotVerifier,
  ],
})
export class IdentityStateModule {
  /** The paths without a tenant are there only where they are enabled; elsewhere there is no such route. */
  static of({ legacy }: GatewaySettings): DynamicModule {
    const paths = { controllers: [LegacyEntityStatesController], providers: [LegacyEntityStateService] };
    return { module: IdentityStateModule, ...(legacy.enabled ? paths : {}) };
  }
}
