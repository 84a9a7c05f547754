import {
  type CheckedLink,
  checkLink,
  checkSnapshot,
  type StoredSnapshot,
  type SubjectRef,
  type Verification,
  verifyChecked,
  type VerifyMode,
} from '@iss/domain';
import { SnapshotListStore, type SnapshotRecord } from '@iss/persistence';
import { Injectable } from '@nestjs/common';

/** What is to be verified of a snapshot. */
export interface VerifyOptions {
  verify: VerifyMode;
  /** Hops up the chain with `verify: 'chain'`. */
  depth: number;
}

export interface VerifiedSnapshot {
  snapshot: SnapshotRecord;
  verification: Verification | undefined;
}

/** Verifies a snapshot that comes with its envelope; undefined when nothing is to be verified. */
export type Verify = (snapshot: SnapshotRecord) => Verification | undefined;

/**
 * Verifies stored snapshots, for readers who may see them. Parents are read a few MiB at a time, and only what the check
 * found of each is kept, so that a walk of any depth takes little memory.
 */
@Injectable()
export class SnapshotVerifier {
  constructor(private readonly lineage: SnapshotListStore) {}

  /** The verification of one snapshot. */
  async verify(snapshot: SnapshotRecord, options: VerifyOptions): Promise<Verification | undefined> {
    if (options.verify === 'none') return undefined;
    const { snapshotVersion } = snapshot;
    const verify = await this.prepare(snapshot, { newest: snapshotVersion, oldest: snapshotVersion }, options);
    return verify(snapshot);
  }

  /** Reads what the snapshots of a range of versions need of their parents, once for all of them. */
  async prepare(
    subject: SubjectRef,
    range: { newest: number; oldest: number },
    { verify, depth }: VerifyOptions,
  ): Promise<Verify> {
    if (verify === 'none') return () => undefined;
    const isChain = verify === 'chain';
    const links = isChain ? await this.links(subject, range.newest, range.newest - range.oldest + depth) : [];
    return (snapshot) => {
      const parents = links.filter(({ snapshotVersion }) => snapshotVersion < snapshot.snapshotVersion);
      return verifyChecked(verify, checkSnapshot(toStored(snapshot)), parents, depth);
    };
  }

  /** The links of a subject's chain below a version, newest first: `count` of them, or as many as there are. */
  async links(subject: SubjectRef, below: number, count: number): Promise<CheckedLink[]> {
    const links: CheckedLink[] = [];
    let version = below;
    while (links.length < count && version > 1) {
      const batch = await this.lineage.below(subject, version, count - links.length);
      links.push(...batch.map((snapshot) => checkLink(toStored(snapshot))));
      version = batch.at(-1)?.snapshotVersion ?? 1;
    }
    return links;
  }
}

function toStored(snapshot: SnapshotRecord): StoredSnapshot {
  return {
    snapshotId: snapshot.snapshotId,
    snapshotVersion: snapshot.snapshotVersion,
    envelopeText: snapshot.envelope ?? '',
    envelopeHash: snapshot.envelopeHash,
    prevHash: snapshot.prevHash,
  };
}
