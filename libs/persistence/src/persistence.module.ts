import { type Caps, DEFAULT_CAPS } from '@iss/platform';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Database } from './database';
import type { Sql } from './sql/sql';
import { ArchiveStore } from './stores/archive/archive.store';
import { AttestationStore } from './stores/attestations/attestation.store';
import { EvidenceStore } from './stores/attestations/evidence.store';
import { PresentationRequestStore } from './stores/attestations/presentation-request.store';
import { TrustedIssuerStore } from './stores/attestations/trusted-issuer.store';
import { CredentialStore } from './stores/credentials/credential.store';
import { IssuingKeyStore } from './stores/credentials/issuing-key.store';
import { CredentialOfferStore } from './stores/credentials/offer.store';
import { StatusListStore } from './stores/credentials/status-list.store';
import { IdempotencyStore } from './stores/edge/idempotency.store';
import { RateLimitStore } from './stores/edge/rate-limit.store';
import { FeedIntegrationStore } from './stores/feed/feed-integration.store';
import { FeedStore } from './stores/feed/feed.store';
import { ErasureStore } from './stores/erasures/erasure.store';
import { GrantEndStore } from './stores/grants/grant-end.store';
import { AccessibleSubjectStore } from './stores/grants/accessible-subject.store';
import { GrantStore } from './stores/grants/grant.store';
import { PendingGrantStore } from './stores/grants/pending-grant.store';
import { LaterVersionStore } from './stores/refresh-requests/later-version.store';
import { RefreshDeadlineStore } from './stores/refresh-requests/refresh-deadline.store';
import { RefreshRequestStore } from './stores/refresh-requests/refresh-request.store';
import { ProvenanceStore } from './stores/provenance/provenance.store';
import { SnapshotListStore } from './stores/lineage/snapshot-list.store';
import { SnapshotPairStore } from './stores/snapshots/snapshot-pair.store';
import { SnapshotReadStore } from './stores/snapshots/snapshot-read.store';
import { SnapshotWriteStore } from './stores/snapshots/snapshot-write.store';
import { SubjectStore } from './stores/subjects/subject.store';
import { VersionTimeStore } from './stores/lineage/version-time.store';
import { ViewStore } from './stores/snapshots/view.store';
import { LogCheckpointStore } from './stores/log/log-checkpoint.store';
import { LogCopyStore } from './stores/log/log-copy.store';
import { HistoryStore } from './stores/log/history.store';
import { LogEntryStore } from './stores/log/log-entry.store';
import { LogIntegrationStore } from './stores/log/log-integration.store';
import { LogTileStore } from './stores/log/log-tile.store';
import { EntryKeys } from './stores/map/entry-keys';
import { MapBackfillStore } from './stores/map/map-backfill.store';
import { MapProofStore } from './stores/map/map-proof.store';
import { MapReadStore } from './stores/map/map-read.store';
import { PublicEntryStore } from './stores/map/public-entry.store';
import { AuditStore } from './stores/records/audit.store';
import { DisclosureStore } from './stores/records/disclosure.store';
import { ClaimedTypeStore } from './stores/tenancy/claimed-type.store';
import { LegacyTenantStore } from './stores/tenancy/legacy-tenant.store';
import { TenancyStore } from './stores/tenancy/tenancy.store';
import { TransferOfferStore } from './stores/tenancy/transfer-offer.store';
import { UpdateStore } from './stores/updates/update.store';
import { BacklogStore } from './stores/webhooks/backlog.store';
import { DeliveryLogStore } from './stores/webhooks/delivery-log.store';
import { OutboxProjectionStore } from './stores/webhooks/outbox-projection.store';
import { OutboxStore } from './stores/webhooks/outbox.store';
import { RetentionStore } from './stores/webhooks/retention.store';
import { WebhookSubscriptionStore } from './stores/webhooks/webhook-subscription.store';

/** Every store that only needs statements and the caps that they check. */
const STORES: readonly (new (sql: Sql, caps: Caps) => object)[] = [
  ArchiveStore,
  AttestationStore,
  AuditStore,
  BacklogStore,
  ClaimedTypeStore,
  CredentialStore,
  DeliveryLogStore,
  EvidenceStore,
  FeedIntegrationStore,
  FeedStore,
  GrantEndStore,
  DisclosureStore,
  EntryKeys,
  ErasureStore,
  AccessibleSubjectStore,
  GrantStore,
  PendingGrantStore,
  IdempotencyStore,
  IssuingKeyStore,
  CredentialOfferStore,
  LaterVersionStore,
  LegacyTenantStore,
  LogCheckpointStore,
  LogCopyStore,
  LogEntryStore,
  HistoryStore,
  LogIntegrationStore,
  LogTileStore,
  MapBackfillStore,
  MapProofStore,
  MapReadStore,
  OutboxProjectionStore,
  OutboxStore,
  PresentationRequestStore,
  ProvenanceStore,
  PublicEntryStore,
  RateLimitStore,
  RefreshDeadlineStore,
  RefreshRequestStore,
  RetentionStore,
  SnapshotListStore,
  SnapshotPairStore,
  SnapshotReadStore,
  SnapshotWriteStore,
  StatusListStore,
  SubjectStore,
  TenancyStore,
  TransferOfferStore,
  TrustedIssuerStore,
  UpdateStore,
  VersionTimeStore,
  ViewStore,
  WebhookSubscriptionStore,
];

/**
 * Provides the database and its stores to every module of an app. The caller that opened the database closes it, after the app.
 */
@Global()
@Module({})
export class PersistenceModule {
  static of(database: Database, caps: Caps = DEFAULT_CAPS): DynamicModule {
    const providers = [
      { provide: Database, useValue: database },
      ...STORES.map((Store) => ({ provide: Store, useFactory: () => new Store(database.sql, caps) })),
    ];
    return { module: PersistenceModule, providers, exports: providers };
  }
}
