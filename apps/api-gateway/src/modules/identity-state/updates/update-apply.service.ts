import {
  type Actor,
  deriveSnapshotId,
  DomainError,
  type Envelope,
  parsePatch,
  parseStoredJson,
  type PatchOperation,
  requireAccess,
  RULES,
  seal,
  type Sealed,
  type SubjectRef,
} from '@iss/domain';
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
import { patchEnvelope, requireValidResult } from './patched-envelope';
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

    const sealed = this.nextEnvelope(actor, trace, update, base);
    const snapshot = {
      subjectType: update.subjectType,
      subjectId: update.subjectId,
      snapshotId: sealed.envelope.snapshot_id,
      snapshotVersion: sealed.envelope.snapshot_version,
      generatedAt: sealed.envelope.generated_at,
      envelope: sealed.text,
      envelopeHash: sealed.hash,
      prevHash: base.envelopeHash,
    };
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
  private nextEnvelope(
    { principalId }: Actor,
    { requestId, correlationId }: RequestTrace,
    update: UpdateRecord,
    base: Base,
  ): Sealed & { envelope: Envelope } {
    const { limits, snapshotIdSecret } = this.settings;
    const operations: PatchOperation[] = parsePatch(parseStoredJson(update.patchOps), {
      at: AT,
      maxOperations: limits.patchOperations,
    });
    const ops = operations.map((operation) => ({ ...operation }));
    const now = new Date().toISOString();
    const next = {
      ...patchEnvelope(base.envelope, operations, AT, limits),
      snapshot_id: deriveSnapshotId(snapshotIdSecret, {
        subject_type: update.subjectType,
        subject_id: update.subjectId,
        base_snapshot_id: update.baseSnapshotId,
        patch_ops: ops,
      }),
      snapshot_version: update.baseSnapshotVersion + 1,
      generated_at: now,
      audit: {
        created_by: principalId,
        created_at: now,
        source: 'entity_state_update',
        request_id: requestId,
        ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
      },
      diff: { format: 'rfc6902', ops },
    };
    const envelope = requireValidResult(next, operations, AT);
    return { ...seal(envelope), envelope };
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
