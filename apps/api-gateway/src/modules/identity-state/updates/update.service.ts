import { randomUUID } from 'node:crypto';
import {
  type Actor,
  DomainError,
  requireAccess,
  RULES,
  sameUuid,
  type SubjectRef,
  UPDATE_STATUSES,
  type UpdateStatus,
} from '@iss/domain';
import {
  type Page,
  type PageRequest,
  SnapshotReadStore,
  type ListedUpdate,
  type UpdateRecord,
  type UpdateRef,
  UpdateStore,
} from '@iss/persistence';
import { limitReached } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { requireContent } from '../../../access/erased';
import { EventHandOver } from '../../../events/event-hand-over';
import type { RequestTrace } from '../../../request-trace';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import { Work } from '../../../runtime/work';
import { underPolicy } from '../provenance/under-policy';
import { patchedLimits } from './patched-limits';
import type { Proposal } from '../../../runtime/proposal';
import { notProposed, requireUpdate, staleBase } from './update-conditions';

/** Stores, reads and withdraws proposals: the first step to a later version. */
@Injectable()
export class UpdateService {
  constructor(
    private readonly updates: UpdateStore,
    private readonly snapshots: SnapshotReadStore,
    private readonly handOver: EventHandOver,
    private readonly work: Work,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /**
   * Stores a proposal after a dry run against its base. `isNew` is false if the tenant proposed the same under the same
   * `request_id` before. Throws `validation_error`, `forbidden`, `limit_reached`, `conflict` if the base is stale, or
   * `erased` if its content was erased.
   */
  async propose(
    actor: Actor,
    trace: RequestTrace,
    proposal: Proposal,
  ): Promise<{ update: UpdateRecord; isNew: boolean }> {
    const { subject, patchOps, at } = proposal;
    const { facts, snapshot: head } = await this.snapshots.read(actor, { kind: 'latest', subject }, { envelope: true });
    requireAccess(facts, RULES.proposeUpdate);
    if (head === null) throw new DomainError('not_found', 'No such subject. Check its type and id.');

    const isSame = (update: UpdateRecord): boolean => isSameProposal(update, proposal);
    if (head.snapshotVersion !== proposal.baseSnapshotVersion) {
      const earlier = await this.updates.byRequestId(actor.tenantId, proposal.requestId);
      if (earlier !== null) return replay(earlier, isSame);
      await this.requireAgreeingBase(actor, proposal);
      throw staleBase(head.snapshotVersion);
    }
    requireSameBase(proposal.baseSnapshotId, head.snapshotId);
    const base = requireContent(head).envelope ?? '{}';
    const outcome = await underPolicy('open', async (policy) => {
      await this.work.run(actor, 'try_patch', { base, patchOps, at, limits: patchedLimits(this.settings), policy });
      const proposed = await this.updates.propose({
        ...subject,
        updateId: randomUUID(),
        tenantId: actor.tenantId,
        principalId: actor.principalId,
        baseSnapshotId: head.snapshotId,
        baseSnapshotVersion: head.snapshotVersion,
        patchOps,
        changeKind: proposal.changeKind,
        requestId: proposal.requestId,
        initiatedBy: proposal.initiatedBy,
        evidencePolicy: policy,
        trace,
      });
      if (proposed.kind === 'refused') requireAccess(proposed.facts, RULES.proposeUpdate);
      return proposed;
    });
    switch (outcome.kind) {
      case 'proposed':
        this.announce(outcome.eventId);
        return { update: outcome.update, isNew: true };
      case 'existing':
        return replay(outcome.update, isSame);
      case 'refused':
        if (outcome.reached === null || outcome.headVersion !== proposal.baseSnapshotVersion) {
          throw staleBase(outcome.headVersion ?? 0);
        }
        throw limitReached(outcome.reached.name, outcome.reached.value);
    }
  }

  /** Returns the updates of the tenant, or of the subject in the path, newest first, in one state or in all. */
  async list(
    actor: Actor,
    subject: SubjectRef | null,
    status: UpdateStatus | undefined,
    page: PageRequest,
  ): Promise<Page<ListedUpdate>> {
    const statuses = status === undefined ? UPDATE_STATUSES : [status];
    const listed = await this.updates.list({ ...actor, subject }, statuses, page);
    requireAccess(listed.facts, subject === null ? RULES.readUpdates : RULES.readSubjectUpdates);
    return listed.page;
  }

  /** Throws `forbidden`. Throws `not_found` unless the update belongs to the tenant and to the named subject. */
  async find(ref: UpdateRef): Promise<UpdateRecord> {
    const rule = ref.subject === null ? RULES.readUpdates : RULES.readSubjectUpdates;
    return requireUpdate(await this.updates.find(ref), ref.subject, rule);
  }

  /**
   * Withdraws a proposal. Throws `forbidden` unless the caller is its proposer or an editor, `not_found`, or
   * `conflict`.
   */
  async withdraw(ref: UpdateRef, trace: RequestTrace): Promise<UpdateRecord> {
    const outcome = await this.updates.withdraw(ref, trace);
    this.announce(outcome.eventId);
    const update = requireUpdate(outcome, ref.subject, RULES.withdrawUpdate);
    if (outcome.isWithdrawn) return update;
    if (update.proposedBy !== ref.principalId) requireAccess(outcome.facts, RULES.applyUpdate);
    throw notProposed(update);
  }

  private announce(eventId: string | null): void {
    if (eventId !== null) this.handOver.announce([eventId]);
  }

  /** Throws `validation_error` unless the id and the version of the base name one snapshot. */
  private async requireAgreeingBase(actor: Actor, proposal: Proposal): Promise<void> {
    if (proposal.baseSnapshotId === null) return;
    const base = { kind: 'version', subject: proposal.subject, version: proposal.baseSnapshotVersion } as const;
    const named = await this.snapshots.read(actor, base, { envelope: false });
    requireSameBase(proposal.baseSnapshotId, named.snapshot?.snapshotId ?? null);
  }
}

function requireSameBase(baseSnapshotId: string | null, snapshotId: string | null): void {
  if (baseSnapshotId === null || (snapshotId !== null && sameUuid(baseSnapshotId, snapshotId))) return;
  throw new DomainError(
    'validation_error',
    'base_snapshot_id and base_snapshot_version name different snapshots. Send the id and the version of one snapshot.',
    [{ path: '/base_snapshot_id', message: 'is not the snapshot of base_snapshot_version', code: 'mismatch' }],
  );
}

function isSameProposal(update: UpdateRecord, proposal: Proposal): boolean {
  return (
    update.subjectType === proposal.subject.subjectType &&
    update.subjectId === proposal.subject.subjectId &&
    update.baseSnapshotVersion === proposal.baseSnapshotVersion &&
    (proposal.baseSnapshotId === null || sameUuid(update.baseSnapshotId, proposal.baseSnapshotId)) &&
    update.patchOps === proposal.patchOps &&
    update.changeKind === proposal.changeKind &&
    update.initiatedBy === proposal.initiatedBy
  );
}

function replay(
  update: UpdateRecord,
  isSame: (update: UpdateRecord) => boolean,
): { update: UpdateRecord; isNew: boolean } {
  if (isSame(update)) return { update, isNew: false };
  throw new DomainError('conflict', 'This request_id was used for another proposal. Use a fresh one.', [
    { path: '/request_id', message: 'was used for another proposal', code: 'conflict' },
  ]);
}
