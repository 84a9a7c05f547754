import { decideAccess, RULES, type SentEnvelope } from '@iss/domain';
import { LegacyTenantStore, type SnapshotRecord, SnapshotReadStore } from '@iss/persistence';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { requireContent } from '../../../access/erased';
import { notFound } from '../../../access/read-access';
import { LEGACY } from '../../../auth/auth.guard';
import type { Principal } from '../../../auth/principal';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import type { RequestTrace } from '../../../request-trace';
import { EntityStateService } from './entity-state.service';

/** Writes and reads snapshots without a tenant in the path. Writes belong to the tenant that the settings name. */
@Injectable()
export class LegacyEntityStateService implements OnModuleInit {
  constructor(
    private readonly entityStates: EntityStateService,
    private readonly snapshots: SnapshotReadStore,
    private readonly tenants: LegacyTenantStore,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /**
   * Creates the tenant if no token is needed. Otherwise people create it, because it needs someone who manages its
   * members.
   */
  async onModuleInit(): Promise<void> {
    const { tenantId, ownerId = null } = this.settings.legacy;
    if (this.isPublic) await this.tenants.ensure({ tenantId, writerId: LEGACY.principalId, ownerId });
  }

  /** Writes like {@link EntityStateService.submit}. If no token is needed, every caller acts as the same editor. */
  async submit(principal: Principal, trace: RequestTrace, envelope: SentEnvelope): Promise<SnapshotRecord> {
    const { principalId } = this.isPublic ? LEGACY : principal;
    return this.entityStates.submit({ tenantId: this.settings.legacy.tenantId, principalId }, trace, envelope);
  }

  /**
   * Returns the snapshot if the caller may read it by id for any of its tenants. If no token is needed, also returns
   * those of the legacy tenant. Throws `not_found` for any other, and `erased` if its content was erased.
   */
  async read(principal: Principal, snapshotId: string): Promise<SnapshotRecord> {
    const legacy = { tenantId: this.settings.legacy.tenantId, principalId: LEGACY.principalId };
    const own = { tenantId: null, principalId: principal.principalId };
    // The guest may also be an editor of earlier legacy tenants, so its own tenants are not considered.
    for (const reader of [...(this.isPublic ? [legacy] : []), ...(principal === LEGACY ? [] : [own])]) {
      const { facts, snapshot } = await this.snapshots.read(reader, { kind: 'id', snapshotId }, { envelope: true });
      if (snapshot === null || !decideAccess(facts, RULES.readById).allowed) continue;
      return requireContent(snapshot);
    }
    throw notFound();
  }

  private get isPublic(): boolean {
    return this.settings.auth.legacyPathsArePublic;
  }
}
