import {
  type Actor,
  decideAccess,
  DomainError,
  type EnvelopeHeader,
  requireAccess,
  RULES,
  type SealedEnvelope,
} from '@iss/domain';
import { type RefusedSnapshot, type SnapshotRecord, SnapshotReadStore, SnapshotWriteStore } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { RequestTrace } from '../../../request-trace';
import { EventHandOver } from '../../../events/event-hand-over';

/** Of a snapshot, what the next one is built on. */
export type KnownParent = Pick<SnapshotRecord, 'snapshotVersion' | 'envelopeHash'>;

/** Direct writes: a subject's first snapshot by anyone who may edit, later ones by its owner (imports of a history). */
@Injectable()
export class EntityStateService {
  constructor(
    private readonly reads: SnapshotReadStore,
    private readonly writes: SnapshotWriteStore,
    private readonly handOver: EventHandOver,
  ) {}

  /**
   * Stores the envelope as it was sent. `parent`: a snapshot of the subject that is known to be stored, for which nobody has
   * to look then where it is the one before. Throws `forbidden`, or `conflict`.
   */
  async submit(
    actor: Actor,
    trace: RequestTrace,
    sealed: SealedEnvelope,
    parent: KnownParent | null = null,
  ): Promise<SnapshotRecord> {
    const { header } = sealed;
    if (header.snapshotVersion === 1) return this.write(actor, trace, sealed, null);
    const isKnown = parent?.snapshotVersion === header.snapshotVersion - 1;
    return this.write(actor, trace, sealed, isKnown ? parent.envelopeHash : await this.requireParent(actor, header));
  }

  /** The same, where the very same snapshot of the actor's tenant may have been stored before: it is given then, without its envelope. */
  async submitAgain(
    actor: Actor,
    trace: RequestTrace,
    sealed: SealedEnvelope,
    parent: KnownParent | null,
  ): Promise<{ snapshot: SnapshotRecord; isNew: boolean }> {
    try {
      return { snapshot: await this.submit(actor, trace, sealed, parent), isNew: true };
    } catch (error) {
      const stored = error instanceof DomainError && error.code === 'conflict' ? await this.find(actor, sealed) : null;
      if (stored === null) throw error;
      return { snapshot: stored, isNew: false };
    }
  }

  private async find(actor: Actor, { header: { snapshotId }, hash }: SealedEnvelope): Promise<SnapshotRecord | null> {
    const { facts, snapshot } = await this.reads.read(actor, { kind: 'id', snapshotId }, { envelope: false });
    const isTheSame = snapshot?.envelopeHash === hash && decideAccess(facts, RULES.submitLaterState).allowed;
    return isTheSame ? snapshot : null;
  }

  /** The hash of the snapshot that a later version follows. */
  private async requireParent(actor: Actor, header: EnvelopeHeader): Promise<string | null> {
    const subject = { subjectType: header.subjectType, subjectId: header.subjectId };
    const { facts, snapshot } = await this.reads.read(actor, { kind: 'latest', subject }, { envelope: false });
    requireAccess(facts, RULES.submitLaterState);
    if (snapshot?.snapshotVersion !== header.snapshotVersion - 1) throw notNext(snapshot?.snapshotVersion ?? 0);
    return snapshot.envelopeHash;
  }

  private async write(
    actor: Actor,
    { requestId, traceparent }: RequestTrace,
    { header, text, hash }: SealedEnvelope,
    prevHash: string | null,
  ): Promise<SnapshotRecord> {
    const snapshot = { ...header, envelope: text, envelopeHash: hash, prevHash };
    const toWrite = {
      ...snapshot,
      ...actor,
      requestId,
      traceparent,
      updateId: null,
    };
    const isFirst = header.snapshotVersion === 1;
    const outcome = await (isFirst ? this.writes.create(toWrite) : this.writes.append(toWrite));
    if (outcome.kind === 'refused') throw refusal(outcome, isFirst);
    if (outcome.eventId !== null) this.handOver.announce([outcome.eventId]);
    return { ...snapshot, createdAt: outcome.createdAt };
  }
}

function refusal(outcome: RefusedSnapshot, isFirst: boolean): DomainError {
  requireAccess(outcome.facts, isFirst ? RULES.submitFirstState : RULES.submitLaterState);
  if (outcome.snapshotIdTaken) {
    return new DomainError('conflict', 'A snapshot with this snapshot_id exists. Use a fresh UUID.', [
      { path: '/snapshot_id', message: 'is taken', code: 'conflict' },
    ]);
  }
  if (isFirst) {
    return new DomainError('conflict', 'The subject exists. Its owner writes later versions through updates.', [
      { path: '/subject/subject_id', message: 'exists', code: 'conflict' },
    ]);
  }
  return notNext(outcome.headVersion ?? 0);
}

function notNext(headVersion: number): DomainError {
  return new DomainError(
    'conflict',
    `The latest version is ${headVersion}: a direct write must be version ${headVersion + 1}.`,
    [{ path: '/snapshot_version', message: `must be ${headVersion + 1}`, code: 'conflict' }],
  );
}
