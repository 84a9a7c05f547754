import {
  type Actor,
  DomainError,
  type EvidencePolicy,
  type KnownOrigins,
  type MadeVersion,
  requireAccess,
  RULES,
  type SubjectRef,
} from '@iss/domain';
import {
  type ApplyBase,
  type SnapshotRecord,
  SnapshotWriteStore,
  type UpdateRecord,
  UpdateStore,
  type UpdateToApply,
} from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { requireContent, requireNotErased } from '../../../access/erased';
import { EventHandOver } from '../../../events/event-hand-over';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import type { RequestTrace } from '../../../request-trace';
import { Work } from '../../../runtime/work';
import { OriginsService } from '../provenance/origins.service';
import { provenanceColumns } from '../provenance/provenance-columns';
import { underPolicy } from '../provenance/under-policy';
import { patchedLimits } from './patched-limits';
import { notProposed, requireUpdate, staleBase } from './update-conditions';

const AT = '/patch_ops';

/** A proposal that can be applied, with its base. */
interface Applicable {
  update: UpdateRecord;
  base: ApplyBase;
  envelope: string;
  patchOps: string;
}

/** Applies proposals: the second step to a later version. */
@Injectable()
export class UpdateApplyService {
  constructor(
    private readonly updates: UpdateStore,
    private readonly writes: SnapshotWriteStore,
    private readonly origins: OriginsService,
    private readonly handOver: EventHandOver,
    private readonly work: Work,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /**
   * Writes the snapshot of a proposal. `subject` is set if the path names it. Throws `not_found`, `forbidden`,
   * `conflict` (already applied, withdrawn, stale base), `erased` (the base), or `validation_error`.
   */
  async apply(
    actor: Actor,
    trace: RequestTrace,
    updateId: string,
    subject: SubjectRef | null,
  ): Promise<SnapshotRecord> {
    const loaded = await this.updates.forApply({ ...actor, updateId, subject });
    const applicable = requireApplicable(loaded, subject);
    const { update, base } = applicable;

    const { subjectType, subjectId, baseSnapshotVersion: snapshotVersion } = update;
    const found = await this.origins.find(actor, { subjectType, subjectId, snapshotVersion }, base.origins);
    const outcome = await underPolicy(loaded.evidencePolicy, async (policy) => {
      const { header, text, hash, terms, traced } = await this.nextEnvelope(actor, trace, applicable, found, policy);
      const snapshot = { ...header, envelope: text, envelopeHash: hash, prevHash: base.envelopeHash };
      const appended = await this.writes.append({
        ...snapshot,
        ...provenanceColumns(traced, header.snapshotVersion),
        ...actor,
        requestId: trace.requestId,
        traceparent: trace.traceparent,
        updateId,
        isBaseErased: false,
        terms,
        evidencePolicy: policy,
      });
      if (appended.kind === 'refused') requireAccess(appended.facts, RULES.applyUpdate);
      return { ...appended, snapshot };
    });
    if (outcome.kind === 'refused') {
      throw outcome.headVersion === update.baseSnapshotVersion
        ? notProposed(update)
        : staleBase(outcome.headVersion ?? 0);
    }
    this.handOver.announce([outcome.eventId, outcome.appliedEventId].filter((eventId) => eventId !== null));
    const writer = { writtenBy: actor.principalId, writeRequestId: trace.requestId };
    return { ...outcome.snapshot, ...writer, createdAt: outcome.createdAt, erasure: null };
  }

  /** Patches the base, sets the server's own members (contract, "Apply"), seals and traces the result. */
  private async nextEnvelope(
    actor: Actor,
    { requestId, correlationId }: RequestTrace,
    { update, envelope, patchOps }: Applicable,
    baseOrigins: KnownOrigins | null,
    policy: EvidencePolicy,
  ): Promise<MadeVersion> {
    const now = new Date().toISOString();
    return this.work.run(actor, 'apply_update', {
      base: envelope,
      patchOps,
      at: AT,
      limits: patchedLimits(this.settings),
      policy,
      baseOrigins,
      next: {
        snapshotVersion: update.baseSnapshotVersion + 1,
        generatedAt: now,
        changeKind: update.changeKind,
        audit: {
          created_by: actor.principalId,
          created_at: now,
          source: 'entity_state_update',
          request_id: requestId,
          ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
        },
        id: {
          subject_type: update.subjectType,
          subject_id: update.subjectId,
          base_snapshot_id: update.baseSnapshotId,
        },
        idSecret: this.settings.snapshotIdSecret,
      },
    });
  }
}

/** Checks all conditions on the proposal itself, in the order in which the caller may learn of them. */
function requireApplicable(loaded: UpdateToApply, subject: SubjectRef | null): Applicable {
  const update = requireUpdate(loaded, subject, RULES.applyUpdate);
  const { base, headVersion } = loaded;
  if (base !== null && update.patchOps === null && update.status === 'withdrawn') requireNotErased(base);
  if (update.status !== 'proposed') throw notProposed(update);
  if (base === null || headVersion !== update.baseSnapshotVersion) throw staleBase(headVersion ?? 0);
  const { envelope } = requireContent(base);
  const { patchOps } = update;
  if (envelope === null || patchOps === null) throw new Error('an update or its base has no content');
  if (base.envelopeHash === null && loaded.chainEnforced) {
    throw new DomainError(
      'validation_error',
      "The base snapshot has no envelope_hash, and the tenant's chain_enforced is true. Ask the operator to " +
        'fill in its hash.',
      [{ path: '/path/update_id', message: 'its base snapshot has no envelope_hash', code: 'parent_not_hashed' }],
    );
  }
  return { update, base, envelope, patchOps };
}
