import {
  type AccessFacts,
  type AccessRule,
  type DisclosureWay,
  type DomainError,
  type EnvelopeSummary,
  type Reader,
  RULES,
  type SubjectRef,
  type Visible,
} from '@iss/domain';
import {
  type AsOf,
  READ_RULES,
  openSnapshot,
  SnapshotReadStore,
  type SnapshotRow,
  type SnapshotTarget,
  type WantedParts,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { Disclosures } from '../../../access/disclosures';
import { requireContent } from '../../../access/erased';
import { noSuchVersion, notFound, ReadAccess } from '../../../access/read-access';
import type { Asker } from '../../../runtime/asker';
import { Work } from '../../../runtime/work';
import { type ShownSnapshot, ShownSnapshots } from '../snapshot/shown-snapshots';
import { openingFor, SnapshotVerifier, type VerifiedSnapshot, type VerifyOptions } from '../snapshot/snapshot-verifier';
import { type OfLatest, VersionTimeService } from '../snapshot/version-time.service';

export type { SnapshotTarget };

export interface SnapshotReadOptions extends VerifyOptions {
  withEnvelope: boolean;
  /** The kind of disclosure that is recorded. */
  via: DisclosureWay;
}

/** The rule for a read, and how it shows the version if its own statement cannot know that. */
interface Reading {
  right: AccessRule;
  ofLatest: OfLatest | null;
}

/**
 * Reads single snapshots, tenant-scoped or global. All methods throw `forbidden` or `not_found`. Methods that return
 * content throw `erased` if it was erased, and `damaged` if it differs from what was written.
 */
@Injectable()
export class SnapshotReadService {
  constructor(
    private readonly snapshots: SnapshotReadStore,
    private readonly access: ReadAccess,
    private readonly disclosures: Disclosures,
    private readonly verifier: SnapshotVerifier,
    private readonly shown: ShownSnapshots,
    private readonly work: Work,
    private readonly times: VersionTimeService,
  ) {}

  read(reader: Reader & Asker, target: SnapshotTarget, options: SnapshotReadOptions): Promise<VerifiedSnapshot> {
    return this.verified(reader, target, usual(target), options);
  }

  /** Returns the snapshot that was the latest at that moment. An older one needs the right to read that version. */
  async readAsOf(
    reader: Reader & Asker,
    subject: SubjectRef,
    asOf: AsOf,
    options: SnapshotReadOptions,
  ): Promise<VerifiedSnapshot> {
    const rights = { latest: RULES.readLatestAsOf, older: RULES.readVersion };
    const { version, right, ofLatest } = await this.times.asOf(reader, subject, asOf, (which) => rights[which]);
    const target = { kind: 'version', subject, version, asLatest: right === rights.latest } as const;
    return this.verified(reader, target, { right, ofLatest }, options);
  }

  /** Returns the latest snapshot of a subject, or that of a moment, with a summary of its envelope. */
  async summarize(
    reader: Reader & Asker,
    subject: SubjectRef,
    asOf: AsOf | null,
    options: VerifyOptions,
  ): Promise<VerifiedSnapshot & { summary: EnvelopeSummary }> {
    const all = { ...options, withEnvelope: true, via: 'summary' } as const;
    const found = await (asOf === null
      ? this.read(reader, { kind: 'latest', subject }, all)
      : this.readAsOf(reader, subject, asOf, all));
    return { ...found, summary: await this.work.run(reader, 'summarize', { text: found.snapshot.envelope ?? '' }) };
  }

  /** Returns a snapshot's header, also for an erased one. */
  async header(
    reader: Reader & Asker,
    target: SnapshotTarget,
    wanted: WantedParts,
    via: DisclosureWay,
  ): Promise<SnapshotRow> {
    const { row } = await this.find(reader, target, usual(target), wanted, via);
    if (row === null) throw notFound();
    return row;
  }

  /**
   * Returns a snapshot with its envelope, without verification. Returns null if its hash equals `hash`, and the reader may
   * see all of it.
   */
  async readUnless(
    reader: Reader & Asker,
    target: SnapshotTarget,
    hash: Buffer | undefined,
  ): Promise<ShownSnapshot | null> {
    const { row, visible } = await this.find(
      reader,
      target,
      usual(target),
      { envelope: true, unlessHash: hash },
      'snapshot',
    );
    if (row !== null) return this.shown.show(reader, requireContent(row), visible);
    return visible === null ? null : this.readUnless(reader, target, undefined);
  }

  private async verified(
    reader: Reader & Asker,
    target: SnapshotTarget,
    reading: Reading,
    options: SnapshotReadOptions,
  ): Promise<VerifiedSnapshot> {
    const wanted = { envelope: options.withEnvelope || options.verify !== 'none' };
    const { row, visible } = await this.find(reader, target, reading, wanted, options.via);
    if (row === null) throw notFound();
    // A view can only be made of an intact text.
    const open = visible === null ? openingFor(options, options.withEnvelope) : openSnapshot;
    const snapshot = requireContent(row, open);
    const verification = await this.verifier.verify(reader, snapshot, options);
    return { snapshot: await this.shown.show(reader, snapshot, visible), verification };
  }

  private async find(
    reader: Reader & Asker,
    target: SnapshotTarget,
    reading: Reading,
    wanted: WantedParts,
    via: DisclosureWay,
  ): Promise<{ row: SnapshotRow | null; visible: Visible }> {
    const { facts, snapshot, version, ...read } = await this.snapshots.read(reader, target, wanted);
    // An id cannot be guessed, so an unknown one is 404 for any member.
    const isUnknownId = target.kind === 'id' && version === null;
    const byFacts = this.access.require(reader, facts, isUnknownId ? { role: reading.right.role } : reading.right);
    if (version === null) throw await this.unknown(reader, target, facts);
    // Only the hashes of an erased version are shown.
    const way = snapshot === null || snapshot.erasure === null ? via : 'headers';
    const { disclosure, visible } = reading.ofLatest ?? { disclosure: read.disclosure, visible: byFacts };
    if (disclosure !== null) await this.disclosures.record(reader, disclosure, { from: version, to: version }, way);
    return { row: snapshot, visible };
  }

  /** Creates the error for an unknown version. It tells the owner which version is the latest. */
  private async unknown(reader: Reader, target: SnapshotTarget, { ownsSubject }: AccessFacts): Promise<DomainError> {
    if (target.kind !== 'version' || !ownsSubject) return notFound();
    const latest = { kind: 'latest', subject: target.subject } as const;
    const { snapshot } = await this.snapshots.read(reader, latest, { envelope: false });
    if (snapshot === null) return notFound();
    return noSuchVersion(target.version, snapshot.snapshotVersion, '/path/snapshot_version');
  }
}

function usual({ kind }: SnapshotTarget): Reading {
  return { right: READ_RULES[kind], ofLatest: null };
}
