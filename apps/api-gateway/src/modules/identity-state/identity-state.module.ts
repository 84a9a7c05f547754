import { type DynamicModule, Module } from '@nestjs/common';
import type { GatewaySettings } from '../../settings';
import { BatchImportService } from './write/batch-import.service';
import { BundleService } from './lineage/bundle.service';
import { CredentialService } from './credentials/credential.service';
import { CredentialsController } from './credentials/credentials.controller';
import { IssuingKeyService } from './credentials/issuing-key.service';
import { OfferService } from './credentials/offer.service';
import { OffersController } from './credentials/offers.controller';
import { DiffController } from './diff/diff.controller';
import { DiffService } from './diff/diff.service';
import { EntityStateService } from './write/entity-state.service';
import { EntityStatesController } from './write/entity-states.controller';
import { ExportController } from './lineage/export.controller';
import { LegacyEntityStateService } from './write/legacy-entity-state.service';
import { LegacyEntityStatesController } from './write/legacy-entity-states.controller';
import { SnapshotListService } from './lineage/snapshot-list.service';
import { SnapshotListsController } from './lineage/snapshot-lists.controller';
import { OriginsService } from './provenance/origins.service';
import { ProvenanceController } from './provenance/provenance.controller';
import { ProvenanceService } from './provenance/provenance.service';
import { RecentAnswers } from './read/recent-answers';
import { SnapshotReadService } from './read/snapshot-read.service';
import { NewestVersions } from './snapshot/newest-versions';
import { ShownSnapshots } from './snapshot/shown-snapshots';
import { SnapshotVerifier } from './snapshot/snapshot-verifier';
import { VersionTimeService } from './snapshot/version-time.service';
import { SnapshotsController } from './read/snapshots.controller';
import { UpdateApplyService } from './updates/update-apply.service';
import { UpdateService } from './updates/update.service';
import { UpdatesController } from './updates/updates.controller';

@Module({
  controllers: [
    DiffController,
    EntityStatesController,
    UpdatesController,
    SnapshotsController,
    SnapshotListsController,
    ExportController,
    ProvenanceController,
    CredentialsController,
    OffersController,
  ],
  providers: [
    DiffService,
    EntityStateService,
    BatchImportService,
    UpdateService,
    UpdateApplyService,
    RecentAnswers,
    VersionTimeService,
    SnapshotReadService,
    SnapshotListService,
    BundleService,
    OriginsService,
    ProvenanceService,
    SnapshotVerifier,
    ShownSnapshots,
    NewestVersions,
    CredentialService,
    IssuingKeyService,
    OfferService,
  ],
})
export class IdentityStateModule {
  /** Registers the legacy paths without a tenant only if they are enabled. */
  static of({ legacy }: GatewaySettings): DynamicModule {
    const paths = { controllers: [LegacyEntityStatesController], providers: [LegacyEntityStateService] };
    return { module: IdentityStateModule, ...(legacy.enabled ? paths : {}) };
  }
}
