import { setImmediate } from 'node:timers/promises';
import {
  type CheckedLink,
  type CheckedSnapshot,
  DomainError,
  type StoredSnapshot,
  type SubjectRef,
  type SnapshotVerification,
  verifyChecked,
  verifyComplete,
  type VerifyMode,
} from '@iss/domain';
import { openSnapshot, openForVerdict, SnapshotListStore, type SnapshotRecord, readUnchecked } from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import type { Asker, Charged } from '../../../runtime/asker';
import { isLarge, Work } from '../../../runtime/work';
import { NewestVersions } from './newest-versions';
import type { ShownSnapshot } from './shown-snapshots';

export interface VerifyOptions {
  verify: VerifyMode;
  /** Number of parents to check with `verify: 'chain'`. */
  depth: number;
}

export interface VerifiedSnapshot {
  snapshot: ShownSnapshot;
  verification: SnapshotVerification | undefined;
}

/** Verifies a snapshot and its envelope. Returns undefined if no verification was requested. */
export type Verify = (snapshot: SnapshotRecord) => Promise<SnapshotVerification | undefined>;

/**
 * Returns the function that opens a snapshot. If the response contains a verification, that reports whether the text
 * matches its hash, so opening only requires valid JSON.
 */
export function openingFor({ verify }: Pick<VerifyOptions, 'verify'>, isShown: boolean): typeof openSnapshot {
  if (verify === 'none') return openSnapshot;
  return isShown ? openForVerdict : readUnchecked;
}

/**
 * Verifies stored snapshots for readers that may see them. Parents are read a few MiB at a time, and only their results
 * are stored, so that a walk of any depth takes little memory. A walk ends when nobody waits for it any more, or when
 * its time limit ends.
 */
@Injectable()
export class SnapshotVerifier {
  constructor(
    private readonly lineage: SnapshotListStore,
    private readonly work: Work,
    private readonly newest: NewestVersions,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /** Verifies one snapshot. */
  async verify(
    asker: Asker,
    snapshot: SnapshotRecord,
    options: VerifyOptions,
  ): Promise<SnapshotVerification | undefined> {
    if (options.verify === 'none') return undefined;
    const { snapshotVersion } = snapshot;
    const verify = await this.prepare(asker, snapshot, { newest: snapshotVersion, oldest: snapshotVersion }, options);
    return verify(snapshot);
  }

  /** Reads the links to the parents for a range of versions once. Returns the function that verifies each. */
  async prepare(
    asker: Asker,
    subject: SubjectRef,
    range: { newest: number; oldest: number },
    { verify, depth }: VerifyOptions,
  ): Promise<Verify> {
    if (verify === 'none') return async () => undefined;
    const isChain = verify === 'chain';
    const count = range.newest - range.oldest + depth;
    const links = isChain ? await this.links(asker, subject, range.newest, count) : [];
    const newest = verify === 'complete' ? await this.newest.of(asker, subject, Math.max(0, range.newest)) : null;
    const yielder = new ThreadYielder();
    return async (snapshot) => {
      const stored = toStored(snapshot);
      await yielder.afterProcessing(stored.envelopeText?.length ?? 0);
      const checked: CheckedSnapshot = await asker.measured(() => this.work.run(asker, 'check_snapshot', stored));
      const parents = links.filter(({ snapshotVersion }) => snapshotVersion < snapshot.snapshotVersion);
      const verified = verifyChecked(isChain ? 'chain' : 'hash', checked, parents, depth);
      return newest === null ? verified : verifyComplete(verified, snapshot.snapshotVersion, newest);
    };
  }

  /**
   * Returns `count` links of a subject's chain below a version, newest first, or all if there are fewer. Throws
   * `unavailable` if the time limit ends, or if nobody waits for the result any more.
   */
  async links(asker: Charged, subject: SubjectRef, below: number, count: number): Promise<CheckedLink[]> {
    const { verifyDeadlineMs } = this.settings.work;
    const endsAtMs = performance.now() + verifyDeadlineMs;
    const links: CheckedLink[] = [];
    let version = below;
    while (links.length < count && version > 1) {
      if (asker.isGone === true)
        throw new DomainError('unavailable', 'The client disconnected while a chain was verified.');
      if (performance.now() > endsAtMs) throw tooLong(verifyDeadlineMs, links.length);
      const batch = await this.lineage.below(subject, version, count - links.length);
      links.push(
        ...(await this.work.run(
          asker,
          'check_links',
          batch.map((row) => toStored(readUnchecked(row))),
        )),
      );
      version = batch.at(-1)?.snapshotVersion ?? 1;
    }
    return links;
  }
}

/** Yields the thread each time after {@link IMMEDIATE_SIZE} was processed on it. */
class ThreadYielder {
  private size = 0;

  async afterProcessing(size: number): Promise<void> {
    this.size += size;
    if (!isLarge(this.size)) return;
    this.size = 0;
    await setImmediate();
  }
}

function tooLong(deadlineMs: number, links: number): DomainError {
  return new DomainError(
    'unavailable',
    `The service verified ${links} links within ${deadlineMs} ms and then stopped. Ask for a smaller depth, ` +
      'then continue from an older version.',
  );
}

function toStored(snapshot: SnapshotRecord): StoredSnapshot {
  return {
    snapshotId: snapshot.snapshotId,
    snapshotVersion: snapshot.snapshotVersion,
    envelopeText: snapshot.erasure === null ? (snapshot.envelope ?? '') : null,
    envelopeHash: snapshot.envelopeHash,
    prevHash: snapshot.prevHash,
  };
}
