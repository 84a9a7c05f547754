import {
  type AccessFacts,
  type DisclosureWay,
  type DomainError,
  type EnvelopeSummary,
  type Reader,
  RULES,
  type SubjectRef,
} from '@iss/domain';
import { READ_RULES, type SnapshotRecord, SnapshotReadStore, type SnapshotTarget, type Wanted } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { Disclosures } from '../../../access/disclosures';
import { noSuchVersion, notFound, ReadAccess } from '../../../access/read-access';
import type { Asker } from '../../../work/asker';
import { Work } from '../../../work/work';
import { SnapshotVerifier, type VerifiedSnapshot, type VerifyOptions } from '../snapshot/snapshot-verifier';

export type { SnapshotTarget };

/** What of a snapshot is asked for. */
export interface ReadOptions extends VerifyOptions {
  withEnvelope: boolean;
  /** What is shown of it. */
  via: DisclosureWay;
}

/** Reads of single snapshots, tenant-scoped and global alike, for those who may. All throw `forbidden` or `not_found`. */
@Injectable()
export class SnapshotReadService {
  constructor(
    private readonly snapshots: SnapshotReadStore,
    private readonly access: ReadAccess,
    private readonly disclosures: Disclosures,
    private readonly verifier: SnapshotVerifier,
    private readonly work: Work,
  ) {}

  async read(reader: Reader & Asker, target: SnapshotTarget, options: ReadOptions): Promise<VerifiedSnapshot> {
    const wanted = { envelope: options.withEnvelope || options.verify !== 'none' };
    const snapshot = await this.find(reader, target, wanted, options.via);
    if (snapshot === null) throw notFound();
    return { snapshot, verification: await this.verifier.verify(reader, snapshot, options) };
  }

  /** The latest snapshot of a subject, and what its current state shows of the envelope. */
  async summarize(
    reader: Reader & Asker,
    subject: SubjectRef,
    options: VerifyOptions,
  ): Promise<VerifiedSnapshot & { summary: EnvelopeSummary }> {
    const found = await this.read(
      reader,
      { kind: 'latest', subject },
      { ...options, withEnvelope: true, via: 'summary' },
    );
    return { ...found, summary: await this.work.run(reader, 'summarize', { text: found.snapshot.envelope ?? '' }) };
  }

  /** The snapshot with its envelope, not verified; null when it is the one with this hash. */
  readUnless(reader: Reader & Asker, target: SnapshotTarget, hash: Buffer | undefined): Promise<SnapshotRecord | null> {
    return this.find(reader, target, { envelope: true, unlessHash: hash }, 'snapshot');
  }

  private async find(
    reader: Reader & Asker,
    target: SnapshotTarget,
    wanted: Wanted,
    via: DisclosureWay,
  ): Promise<SnapshotRecord | null> {
    const { facts, disclosure, snapshot, version } = await this.snapshots.read(reader, target, wanted);
    // An id cannot be guessed, so an unknown one is 404 to any member.
    const isUnknownId = target.kind === 'id' && version === null;
    const right = isUnknownId ? { role: RULES.readById.role } : READ_RULES[target.kind];
    this.access.require(reader, facts, right);
    if (version === null) throw await this.unknown(reader, target, facts);
    if (disclosure !== null) await this.disclosures.record(reader, disclosure, { from: version, to: version }, via);
    return snapshot;
  }

  /** The owner is told which version is the latest. */
  private async unknown(reader: Reader, target: SnapshotTarget, { ownsSubject }: AccessFacts): Promise<DomainError> {
    if (target.kind !== 'version' || !ownsSubject) return notFound();
    const latest = { kind: 'latest', subject: target.subject } as const;
    const { snapshot } = await this.snapshots.read(reader, latest, { envelope: false });
    if (snapshot === null) return notFound();
    return noSuchVersion(target.version, snapshot.snapshotVersion, '/path/snapshot_version');
  }
}
