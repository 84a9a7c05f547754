import {
  DomainError,
  type Envelope,
  type JsonValue,
  requireAccess,
  seal,
  type Sealed,
  validateEnvelope,
} from '@iss/domain';
import { type RefusedSnapshot, type SnapshotRecord, SnapshotReadStore, SnapshotWriteStore } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { RULES } from '../../../access/rules';
import { EventHandOver } from '../../../events/event-hand-over';

/** Who writes, for which tenant, in which request. */
export interface Writer {
  tenantId: string;
  principalId: string;
  requestId: string;
  correlationId: string | undefined;
  traceparent: string;
}

/** Direct writes: a subject's first snapshot by anyone who may edit, later ones by its owner (imports of a history). */
@Injectable()
export class EntityStateService {
  constructor(
    private readonly reads: SnapshotReadStore,
    private readonly writes: SnapshotWriteStore,
    private readonly handOver: EventHandOver,
  ) {}

  /** Stores the envelope as it was sent. Throws `validation_error` with every problem, `forbidden`, or `conflict`. */
  async submit(writer: Writer, body: JsonValue): Promise<SnapshotRecord> {
    const envelope = validateEnvelope(body);
    const sealed = seal(envelope);
    return envelope.snapshot_version === 1
      ? this.write(writer, envelope, sealed, null)
      : this.write(writer, envelope, sealed, await this.requireParent(writer, envelope));
  }

  /** The hash of the snapshot that a later version follows. */
  private async requireParent(writer: Writer, envelope: Envelope): Promise<string | null> {
    const subject = { subjectType: envelope.subject.subject_type, subjectId: envelope.subject.subject_id };
    const { facts, snapshot } = await this.reads.read(
      { tenantId: writer.tenantId, principalId: writer.principalId },
      { kind: 'latest', subject },
      { envelope: false },
    );
    requireAccess(facts, RULES.submitLaterState);
    if (snapshot?.snapshotVersion !== envelope.snapshot_version - 1) throw notNext(snapshot?.snapshotVersion ?? 0);
    return snapshot.envelopeHash;
  }

  private async write(
    writer: Writer,
    envelope: Envelope,
    sealed: Sealed,
    prevHash: string | null,
  ): Promise<SnapshotRecord> {
    const snapshot = {
      subjectType: envelope.subject.subject_type,
      subjectId: envelope.subject.subject_id,
      // UUIDs are equal whatever their case; the envelope keeps the one that was sent.
      snapshotId: envelope.snapshot_id.toLowerCase(),
      snapshotVersion: envelope.snapshot_version,
      generatedAt: envelope.generated_at,
      envelope: sealed.text,
      envelopeHash: sealed.hash,
      prevHash,
    };
    const toWrite = {
      ...snapshot,
      tenantId: writer.tenantId,
      principalId: writer.principalId,
      requestId: writer.requestId,
      traceparent: writer.traceparent,
      updateId: null,
    };
    const isFirst = envelope.snapshot_version === 1;
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
