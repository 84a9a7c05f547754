import {
  type DiffRoot,
  type DiffVerification,
  DomainError,
  type EnvelopeDiff,
  type Reader,
  RULES,
  type SubjectRef,
  verificationOfDiff,
  type Visible,
} from '@iss/domain';
import {
  type AsOf,
  SnapshotPairStore,
  type SnapshotPairRead,
  openSnapshot,
  SnapshotReadStore,
  type SnapshotRow,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { Disclosures } from '../../../access/disclosures';
import { requireNotErased } from '../../../access/erased';
import { noSuchVersion, notFound, ReadAccess } from '../../../access/read-access';
import type { Asker } from '../../../runtime/asker';
import { Work } from '../../../runtime/work';
import { type ShownSnapshot, ShownSnapshots } from '../snapshot/shown-snapshots';
import { openingFor, SnapshotVerifier, type VerifyOptions } from '../snapshot/snapshot-verifier';
import { VersionTimeService } from '../snapshot/version-time.service';

export interface DiffOptions extends VerifyOptions {
  include: readonly DiffRoot[];
  withAttribution: boolean;
}

/** One side of a diff: a version, or the moment at which it was the newest. */
export type VersionSide = number | AsOf;

/** Specification, "Diff result". */
export interface SnapshotDiff extends Pair, EnvelopeDiff {
  include: readonly DiffRoot[];
  verification: DiffVerification | undefined;
}

interface Pair {
  from: ShownSnapshot;
  to: ShownSnapshot;
}

interface RowPair {
  from: SnapshotRow;
  to: SnapshotRow;
}

/** Compares two snapshots of one subject. */
@Injectable()
export class DiffService {
  constructor(
    private readonly pairs: SnapshotPairStore,
    private readonly snapshots: SnapshotReadStore,
    private readonly access: ReadAccess,
    private readonly disclosures: Disclosures,
    private readonly verifier: SnapshotVerifier,
    private readonly shown: ShownSnapshots,
    private readonly work: Work,
    private readonly times: VersionTimeService,
  ) {}

  async betweenVersions(
    reader: Reader & Asker,
    subject: SubjectRef,
    sides: { from: VersionSide; to: VersionSide },
    options: DiffOptions,
  ): Promise<SnapshotDiff> {
    const versions = {
      from: await this.versionOf(reader, subject, sides.from),
      to: await this.versionOf(reader, subject, sides.to),
    };
    const read = await this.pairs.byVersions(reader, subject, versions);
    const visible = this.access.require(reader, read.from.facts, RULES.readDiff);
    if (read.from.facts.ownsSubject) await this.requireVersions(reader, subject, versions, read);
    const pair = requireBoth(read);
    await this.disclose(reader, read);
    return this.diff(reader, pair, visible, options);
  }

  /** Throws `validation_error` for snapshots of different subjects, but only to a reader of both. */
  async betweenIds(
    reader: Reader & Asker,
    ids: { from: string; to: string },
    options: DiffOptions,
  ): Promise<SnapshotDiff> {
    const read = await this.pairs.byIds(reader, ids);
    // An id cannot be guessed, so an unknown one is 404 for any member.
    const [visible = null] = [read.from, read.to].map(({ facts, isThere }) =>
      this.access.require(reader, facts, isThere ? RULES.readDiff : { role: RULES.readDiff.role }),
    );
    const pair = requireBoth(read);
    requireSameSubject(pair);
    await this.disclose(reader, read);
    return this.diff(reader, pair, visible, options);
  }

  /**
   * Records the two versions separately, because a diff shows nothing of those in between. Throws `erased` if one was
   * erased; then only that version's hashes are shown and recorded.
   */
  private async disclose(reader: Reader & Asker, { from, to }: SnapshotPairRead): Promise<void> {
    const gone = [from, to].filter(({ snapshot }) => snapshot !== null && snapshot.erasure !== null).slice(0, 1);
    for (const { disclosure, snapshot } of gone.length > 0 ? gone : [from, to]) {
      if (snapshot === null) continue;
      const { snapshotVersion: version, erasure } = snapshot;
      const via = erasure === null ? 'diff' : 'headers';
      await this.disclosures.record(reader, disclosure, { from: version, to: version }, via);
      requireNotErased(snapshot);
    }
  }

  private async versionOf(reader: Reader, subject: SubjectRef, side: VersionSide): Promise<number> {
    if (typeof side === 'number') return side;
    return (await this.times.asOf(reader, subject, side, () => RULES.readDiff)).version;
  }

  /** If one of the two versions does not exist, tells the owner which version is the latest. */
  private async requireVersions(
    reader: Reader,
    subject: SubjectRef,
    versions: { from: number; to: number },
    read: SnapshotPairRead,
  ): Promise<void> {
    for (const side of ['from', 'to'] as const) {
      if (read[side].snapshot !== null) continue;
      const { snapshot } = await this.snapshots.read(reader, { kind: 'latest', subject }, { envelope: false });
      if (snapshot !== null) throw noSuchVersion(versions[side], snapshot.snapshotVersion, `/query/${side}_version`);
    }
  }

  private async diff(asker: Asker, rows: RowPair, visible: Visible, options: DiffOptions): Promise<SnapshotDiff> {
    const { include, withAttribution } = options;
    // A view can only be made of an intact text.
    const open = visible === null ? openingFor(options, true) : openSnapshot;
    const from = await this.shown.show(asker, open(rows.from), visible);
    const to = await this.shown.show(asker, open(rows.to), visible);
    const texts = { from: from.envelope ?? '', to: to.envelope ?? '' };
    const diff = await this.work.run(asker, 'diff', { ...texts, include, withAttribution });
    return { from, to, ...diff, include, verification: await this.verify(asker, { from, to }, options) };
  }

  private async verify(asker: Asker, { from, to }: Pair, options: DiffOptions): Promise<DiffVerification | undefined> {
    const first = await this.verifier.verify(asker, from.partial?.whole ?? from, options);
    const second = await this.verifier.verify(asker, to.partial?.whole ?? to, options);
    return first && second && verificationOfDiff(first, second);
  }
}

function requireBoth({ from, to }: SnapshotPairRead): RowPair {
  if (from.snapshot === null || to.snapshot === null) throw notFound();
  return { from: from.snapshot, to: to.snapshot };
}

function requireSameSubject({ from, to }: RowPair): void {
  if (from.subjectType === to.subjectType && from.subjectId === to.subjectId) return;
  throw new DomainError(
    'validation_error',
    'The two snapshots belong to different subjects. Name two snapshots of one subject.',
    [{ path: '/path/to_snapshot_id', message: 'belongs to another subject than from_snapshot_id', code: 'mismatch' }],
  );
}
