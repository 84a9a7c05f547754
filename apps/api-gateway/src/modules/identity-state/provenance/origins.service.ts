import type { KnownOrigins, SubjectRef } from '@iss/domain';
import { openSnapshot, ProvenanceStore, SnapshotListStore } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Charged } from '../../../runtime/asker';
import { Work } from '../../../runtime/work';

/** One version of a subject. */
export interface VersionRef extends SubjectRef {
  snapshotVersion: number;
}

/**
 * The origins of a version. `authors` has the authors, as JSON text, of versions that were walked through and have none
 * stored.
 */
export interface FoundOrigins extends KnownOrigins {
  authors: ReadonlyMap<number, string>;
}

/**
 * The most versions that are traced if no provenance was stored for them. It takes a few tenths of a second for small
 * documents.
 */
const MAX_WALK = 200;
const BATCH = 50;

/** Finds the origins of a version's leaves: stored with the version, or else traced from earlier versions. */
@Injectable()
export class OriginsService {
  constructor(
    private readonly provenance: ProvenanceStore,
    private readonly lists: SnapshotListStore,
    private readonly work: Work,
  ) {}

  /**
   * Returns the origins of a version. `stored` is what was read with the version. Returns null if too many versions have
   * no stored origins. The caller must already have checked access.
   */
  async find(asker: Charged, version: VersionRef, stored: Buffer | null): Promise<FoundOrigins | null> {
    if (stored !== null || version.snapshotVersion === 1) return { origins: stored, authors: new Map() };
    const nearest = (await this.provenance.nearest(version, version.snapshotVersion)) ?? FIRST;
    if (version.snapshotVersion - nearest.snapshotVersion > MAX_WALK) return null;
    return this.walk(asker, version, nearest.snapshotVersion, nearest);
  }

  private async walk(
    asker: Charged,
    { subjectType, subjectId, snapshotVersion: last }: VersionRef,
    first: number,
    known: KnownOrigins,
  ): Promise<FoundOrigins> {
    const subject = { subjectType, subjectId };
    const authors = new Map<number, string>();
    let { origins } = known;
    let base: string | null = null;
    for (let after = first - 1; after < last;) {
      const batch = await this.lists.above(subject, after, Math.min(BATCH, last - after));
      if (batch.length === 0) throw new Error('the chain ends before the version');
      for (const { snapshotVersion: version, envelope } of batch.map(openSnapshot)) {
        const text = envelope ?? '{}';
        if (base !== null) {
          const traced = await this.work.run(asker, 'trace_version', { base, baseOrigins: origins, text, version });
          origins = traced.origins;
          authors.set(version - 1, traced.baseChangedBy).set(version, traced.changedBy);
        }
        base = text;
        after = version;
      }
    }
    return { origins, authors };
  }
}

const FIRST = { snapshotVersion: 1, origins: null };
