import {
  type Actor,
  decideAccess,
  DomainError,
  type EvidencePolicy,
  requireAccess,
  RULES,
  type SentEnvelope,
  type SubjectRef,
  type TracedVersion,
} from '@iss/domain';
import {
  openSnapshot,
  ProvenanceStore,
  type RefusedSnapshot,
  type SnapshotRecord,
  SnapshotReadStore,
  type SnapshotToWrite,
  SnapshotWriteStore,
  type WriteOutcome,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { RequestTrace } from '../../../request-trace';
import { EventHandOver } from '../../../events/event-hand-over';
import { Work } from '../../../runtime/work';
import { OriginsService } from '../provenance/origins.service';
import { provenanceColumns } from '../provenance/provenance-columns';
import { underPolicy } from '../provenance/under-policy';

/** The parts of a snapshot that its successor needs. */
export interface KnownParent {
  snapshotVersion: number;
  envelopeHash: string | null;
  envelope: string;
  /** The origins of its leaves, if known. */
  origins: Buffer | null;
  /** The tenant's evidence policy when the snapshot was written or read. */
  evidencePolicy: EvidencePolicy;
  isErased: boolean;
}

/** The parent of a version that follows an erased one: all its values count as new. */
const NOTHING_LEFT = { envelope: '{}', origins: Buffer.alloc(0), isErased: true };

/** A stored snapshot, and the same snapshot as a parent. `asParent` is null if its content is not in memory. */
export interface StoredState {
  snapshot: SnapshotRecord;
  asParent: KnownParent | null;
}

/** The parts of a write that do not depend on the policy. */
type Written = Omit<SnapshotToWrite, 'evidencePolicy' | 'hasMissing' | 'hasCarried'>;

/**
 * Writes snapshots directly: a subject's first one by any tenant's editor, later ones by its owner (imports of a
 * history).
 */
@Injectable()
export class EntityStateService {
  constructor(
    private readonly reads: SnapshotReadStore,
    private readonly provenance: ProvenanceStore,
    private readonly origins: OriginsService,
    private readonly writes: SnapshotWriteStore,
    private readonly handOver: EventHandOver,
    private readonly work: Work,
  ) {}

  /**
   * Stores the envelope as it was sent. Throws `forbidden`, `conflict`, or `validation_error` against the evidence
   * policy.
   */
  async submit(actor: Actor, trace: RequestTrace, sent: SentEnvelope): Promise<SnapshotRecord> {
    return (await this.store(actor, trace, sent, null)).snapshot;
  }

  /**
   * Stores an envelope that may have been stored before. If the actor's tenant has stored the same snapshot, returns
   * that, without its envelope. `parent` is a stored snapshot of the subject; if it is the direct predecessor, it need
   * not be read. Throws like {@link submit}.
   */
  async submitAgain(
    actor: Actor,
    trace: RequestTrace,
    sent: SentEnvelope,
    parent: KnownParent | null,
  ): Promise<StoredState & { isNew: boolean }> {
    try {
      return { ...(await this.store(actor, trace, sent, parent)), isNew: true };
    } catch (error) {
      const stored = error instanceof DomainError && error.code === 'conflict' ? await this.find(actor, sent) : null;
      if (stored === null) throw error;
      return { snapshot: stored, asParent: null, isNew: false };
    }
  }

  private async find(actor: Actor, { header: { snapshotId }, hash }: SentEnvelope): Promise<SnapshotRecord | null> {
    const { facts, snapshot } = await this.reads.read(actor, { kind: 'id', snapshotId }, { envelope: false });
    const isTheSame = snapshot?.envelopeHash === hash && decideAccess(facts, RULES.submitLaterState).allowed;
    return isTheSame ? openSnapshot(snapshot) : null;
  }

  private async store(
    actor: Actor,
    trace: RequestTrace,
    sent: SentEnvelope,
    known: KnownParent | null,
  ): Promise<StoredState> {
    const version = sent.header.snapshotVersion;
    if (version === 1) return this.create(actor, trace, sent);
    const isParent = known?.snapshotVersion === version - 1;
    return this.append(actor, trace, sent, isParent ? known : await this.requireParent(actor, sent));
  }

  private async create(actor: Actor, trace: RequestTrace, sent: SentEnvelope): Promise<StoredState> {
    const written = toWrite(actor, trace, sent, null);
    const flags = { hasMissing: sent.isEvidenceMissing, hasCarried: false };
    let evidencePolicy: EvidencePolicy = 'open';
    const outcome = await underPolicy(evidencePolicy, async (policy) => {
      evidencePolicy = policy;
      await this.hold(actor, policy, null, sent.text);
      const created = await this.writes.create({ ...written, ...flags, evidencePolicy });
      if (created.kind === 'refused') requireAccess(created.facts, RULES.submitFirstState);
      return created;
    });
    return this.stored(written, outcome, { origins: null, evidencePolicy });
  }

  private async append(
    actor: Actor,
    trace: RequestTrace,
    sent: SentEnvelope,
    parent: KnownParent,
  ): Promise<StoredState> {
    const traced = provenanceColumns(await this.trace(actor, parent, sent), sent.header.snapshotVersion);
    const columns = { ...traced, isBaseErased: parent.isErased };
    const written = toWrite(actor, trace, sent, parent.envelopeHash);
    let { evidencePolicy } = parent;
    const outcome = await underPolicy(evidencePolicy, async (policy) => {
      evidencePolicy = policy;
      await this.hold(actor, policy, parent.envelope, sent.text);
      const appended = await this.writes.append({ ...written, ...columns, evidencePolicy });
      if (appended.kind === 'refused') requireAccess(appended.facts, RULES.submitLaterState);
      return appended;
    });
    return this.stored(written, outcome, { origins: columns.origins, evidencePolicy });
  }

  /** Reads the snapshot that a later version follows. */
  private async requireParent(actor: Actor, { header }: SentEnvelope): Promise<KnownParent> {
    const { facts, snapshot, origins, evidencePolicy } = await this.provenance.parent(actor, subjectOf(header));
    requireAccess(facts, RULES.submitLaterState);
    if (snapshot?.snapshotVersion !== header.snapshotVersion - 1) throw notNext(snapshot?.snapshotVersion ?? 0);
    const { snapshotVersion, envelopeHash, envelope, erasure } = openSnapshot(snapshot);
    if (erasure !== null) return { snapshotVersion, envelopeHash, evidencePolicy, ...NOTHING_LEFT };
    return { snapshotVersion, envelopeHash, envelope: envelope ?? '{}', origins, evidencePolicy, isErased: false };
  }

  private async trace(
    actor: Actor,
    parent: KnownParent,
    { header, text }: SentEnvelope,
  ): Promise<TracedVersion | null> {
    const { snapshotVersion, envelope: base, origins: storedOrigins } = parent;
    const found = await this.origins.find(actor, { ...subjectOf(header), snapshotVersion }, storedOrigins);
    if (found === null) return null;
    const version = header.snapshotVersion;
    return this.work.run(actor, 'trace_version', { base, baseOrigins: found.origins, text, version });
  }

  private async hold(actor: Actor, policy: EvidencePolicy, base: string | null, text: string): Promise<void> {
    if (policy !== 'open') await this.work.run(actor, 'hold_to_policy', { policy, base, text });
  }

  private stored(
    written: Written,
    outcome: WriteOutcome,
    provenance: Pick<KnownParent, 'origins' | 'evidencePolicy'>,
  ): StoredState {
    if (outcome.kind === 'refused') throw refusal(outcome, written.snapshotVersion === 1);
    if (outcome.eventId !== null) this.handOver.announce([outcome.eventId]);
    const { principalId: writtenBy, requestId: writeRequestId } = written;
    const snapshot = { ...written, writtenBy, writeRequestId, createdAt: outcome.createdAt, erasure: null };
    return { snapshot, asParent: { ...written, ...provenance, isErased: false } };
  }
}

function subjectOf({ subjectType, subjectId }: SubjectRef): SubjectRef {
  return { subjectType, subjectId };
}

function toWrite(
  actor: Actor,
  { requestId, traceparent }: RequestTrace,
  { header, text, hash, terms }: SentEnvelope,
  prevHash: string | null,
): Written {
  const snapshot = { ...header, envelope: text, envelopeHash: hash, prevHash };
  return { ...snapshot, ...actor, requestId, traceparent, updateId: null, terms };
}

/** Creates the error for a write that was refused although the caller may write. */
function refusal(outcome: RefusedSnapshot, isFirst: boolean): DomainError {
  if (outcome.snapshotIdTaken) {
    return new DomainError('conflict', 'A snapshot with this snapshot_id exists. Use a fresh UUID.', [
      { path: '/snapshot_id', message: 'is already used', code: 'conflict' },
    ]);
  }
  if (isFirst && !outcome.facts.ownsSubject && outcome.headVersion !== null) {
    return new DomainError(
      'conflict',
      'Another tenant owns this subject_id. All tenants share one set of ids, and the first writer of an id ' +
        'owns it. Use an id in your own namespace, such as your-tenant:id, or ask the owner for a grant. The ' +
        'owner changes only if the whole tenant is transferred.',
      [{ path: '/subject/subject_id', message: 'is owned by another tenant', code: 'conflict' }],
    );
  }
  if (isFirst && outcome.facts.ownsSubject) return notNext(outcome.headVersion ?? 0);
  if (isFirst) {
    return new DomainError(
      'conflict',
      'The subject exists. Only its owner can write later versions, through updates.',
      [{ path: '/subject/subject_id', message: 'exists', code: 'conflict' }],
    );
  }
  return notNext(outcome.headVersion ?? 0);
}

function notNext(headVersion: number): DomainError {
  return new DomainError(
    'conflict',
    `The latest version of this subject is ${headVersion}. Send version ${headVersion + 1}, or propose an update.`,
    [{ path: '/snapshot_version', message: `must be ${headVersion + 1}`, code: 'conflict' }],
  );
}
