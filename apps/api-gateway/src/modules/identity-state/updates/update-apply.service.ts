import { type Actor, DomainError, requireAccess, RULES, type SealedEnvelope, type SubjectRef } from '@iss/domain';
import {
  type SnapshotRecord,
  SnapshotWriteStore,
  type UpdateRecord,
  UpdateStore,
  type UpdateToApply,
} from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { EventHandOver } from '../../../events/event-hand-over';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import type { RequestTrace } from '../../../request-trace';
import { Work } from '../../../work/work';
import { patchedLimits } from './patched-limits';
import { notProposed, requireUpdate, staleBase } from './update-conditions';

const AT = '/patch_ops';

interface Base {
  envelope: string;
  envelopeHash: string | null;
}

/** Later versions, second step: the proposal becomes a snapshot. */
@Injectable()
export class UpdateApplyService {
  constructor(
    private readonly updates: UpdateStore,
    private readonly writes: SnapshotWriteStore,
    private readonly handOver: EventHandOver,
    private readonly work: Work,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /**
   * Writes the snapshot that a proposal leads to. `subject` is given where the path names it. Throws `not_found`,
   * `forbidden`, `conflict` (already applied, withdrawn, stale base), or `validation_error`.
   */
  async apply(
    actor: Actor,
    trace: RequestTrace,
    updateId: string,
    subject: SubjectRef | null,
  ): Promise<SnapshotRecord> {
    const loaded = await this.updates.forApply({ ...actor, updateId, subject });
    const { update, base } = requireApplicable(loaded, subject);

    const { header, text, hash } = await this.nextEnvelope(actor, trace, update, base);
    const snapshot = { ...header, envelope: text, envelopeHash: hash, prevHash: base.envelopeHash };
    const outcome = await this.writes.append({
      ...snapshot,
      ...actor,
      requestId: trace.requestId,
      traceparent: trace.traceparent,
      updateId,
    });
    if (outcome.kind === 'refused') {
      requireAccess(outcome.facts, RULES.applyUpdate);
      throw outcome.headVersion === update.baseSnapshotVersion
        ? notProposed(update)
        : staleBase(outcome.headVersion ?? 0);
    }
    if (outcome.eventId !== null) this.handOver.announce([outcome.eventId]);
    return { ...snapshot, createdAt: outcome.createdAt };
  }

  /** The patched base with the server's own members (contract, "Apply"), sealed. */
  private async nextEnvelope(
    actor: Actor,
    { requestId, correlationId }: RequestTrace,
    update: UpdateRecord,
    base: Base,
  ): Promise<SealedEnvelope> {
    const now = new Date().toISOString();
    return this.work.run(actor, 'apply_update', {
      base: base.envelope,
      patchOps: update.patchOps,
      at: AT,
      limits: patchedLimits(this.settings),
      next: {
        snapshotVersion: update.baseSnapshotVersion + 1,
        generatedAt: now,
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

/** Every condition on the proposal itself, in the order in which the caller may learn of them. */
function requireApplicable(loaded: UpdateToApply, subject: SubjectRef | null): { update: UpdateRecord; base: Base } {
  const update = requireUpdate(loaded, subject, RULES.applyUpdate);
  const { base, headVersion } = loaded;
  if (update.status !== 'proposed') throw notProposed(update);
  if (base === null || headVersion !== update.baseSnapshotVersion) throw staleBase(headVersion ?? 0);
  if (base.envelopeHash === null && loaded.chainEnforced) {
    throw new DomainError(
      'validation_error',
      'The base snapshot has no envelope_hash, and the tenant has chain_enforced. Have its hash filled in first.',
      [{ path: '/path/update_id', message: 'its base snapshot has no envelope_hash', code: 'parent_not_hashed' }],
    );
  }
  return { update, base };
}
