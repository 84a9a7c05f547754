import {
  DomainError,
  type EvidenceStatus,
  type LeafProvenance,
  type Reader,
  RULES,
  type SubjectRef,
} from '@iss/domain';
import {
  type AsOf,
  PAGE_BYTES,
  type PagePosition,
  ProvenanceStore,
  type SnapshotRecord,
  type VersionFacts,
} from '@iss/persistence';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import { Disclosures } from '../../../access/disclosures';
import { requireContent } from '../../../access/erased';
import { noSuchVersion, notFound, ReadAccess } from '../../../access/read-access';
import type { Asker } from '../../../runtime/asker';
import { Work } from '../../../runtime/work';
import { ShownSnapshots } from '../snapshot/shown-snapshots';
import { VersionTimeService } from '../snapshot/version-time.service';
import { OriginsService } from './origins.service';

export interface LeavesRequest {
  /** The version, or the moment at which it was the newest. Null: the latest. */
  of: number | AsOf | null;
  /** JSON Pointer into the envelope, at `/attributes` or below. */
  path: string;
  /** Only leaves with this status; null: any status. */
  status: EvidenceStatus | null;
  /** Only leaves that this evidence covers; null: all. */
  evidenceId: string | null;
  limit: number;
  /** The version with which the list began, and the position among its leaves. */
  after: PagePosition | null;
}

/** A leaf, with the facts of the version that set it. */
export interface ProvedLeaf extends LeafProvenance {
  since: { createdAt: Date; generatedAt: string };
  /** As JSON text. */
  changedBy: string;
  writtenBy: string | null;
  writeRequestId: string | null;
}

/** A page of leaves, each as JSON text. */
interface Leaves {
  items: readonly string[];
  next: PagePosition | null;
}

export interface LeavesPage extends Leaves {
  snapshot: SnapshotRecord;
}

/** The stored pages of one version, by request. */
interface CachedPages {
  /**
   * Identifies the subject's newest erasure at the time of the read, because pages name authors of earlier versions.
   */
  lastErasure: string | null;
  pages: ReadonlyMap<string, Leaves>;
  /** In UTF-16 units. */
  length: number;
}

/** Length of all stored pages (up to twice this), and of those of one version. */
const CACHE_LENGTH = 4_194_304;
const CACHE_LENGTH_OF_VERSION = 262_144;

/** Lists the values of a version with their origins and evidence. */
@Injectable()
export class ProvenanceService {
  /** By `snapshot_id`. The provenance of a version changes only if this or an earlier version is erased. */
  private readonly cache = new RecentMap<string, CachedPages>(CACHE_LENGTH, ({ length }) => length);

  constructor(
    private readonly provenance: ProvenanceStore,
    private readonly origins: OriginsService,
    private readonly times: VersionTimeService,
    private readonly access: ReadAccess,
    private readonly disclosures: Disclosures,
    private readonly shown: ShownSnapshots,
    private readonly work: Work,
  ) {}

  /**
   * Returns a page of a version's leaves, written by `textOf`, which must be the same function in every call. Throws
   * `forbidden`, `erased`, and `not_found`, also for a path that the version does not have. Throws `unavailable` if too
   * many versions were written before provenance was stored.
   */
  async list(
    reader: Reader & Asker,
    subject: SubjectRef,
    request: LeavesRequest,
    textOf: (leaf: ProvedLeaf) => string,
  ): Promise<LeavesPage> {
    const [listVersion, from = 0] = request.after ?? [];
    // A list continues in the version with which it began, even if newer versions are written meanwhile.
    const version = listVersion === undefined ? await this.versionOf(reader, subject, request.of) : Number(listVersion);
    const { facts, disclosure, revoked, lastErasure, ...read } = await this.provenance.read(reader, subject, version);
    const { snapshot: row, origins: storedOrigins } = read;
    const visible = this.access.require(reader, facts, RULES.readLineage);
    if (row === null) throw await this.unknown(reader, subject, version, facts.ownsSubject);
    const { snapshotVersion, erasure } = row;
    const via = erasure === null ? 'provenance' : 'headers';
    await this.disclosures.record(reader, disclosure, { from: snapshotVersion, to: snapshotVersion }, via);
    const pages = this.cache.get(row.snapshotId);
    if (erasure !== null || pages?.lastErasure !== lastErasure) this.cache.delete(row.snapshotId);
    const snapshot = requireContent(row);
    const { path, status, evidenceId, limit } = request;
    const asked = JSON.stringify([path, status, evidenceId, from, limit, visible, revoked]);
    const known = this.cache.get(snapshot.snapshotId)?.pages.get(asked);
    if (known !== undefined) return { snapshot, ...known };

    const found = await this.origins.find(reader, snapshot, storedOrigins);
    if (found === null) throw notStored();
    const shown = await this.shown.show(reader, snapshot, visible);
    const page = await this.work.run(reader, 'list_provenance', {
      text: snapshot.envelope ?? '{}',
      shown: visible === null ? null : shown.envelope,
      origins: found.origins,
      path,
      status,
      evidenceId,
      revoked,
      from: Number(from),
      limit,
      maxBytes: PAGE_BYTES,
    });
    const versions = await this.versions(subject, page.leaves);
    // The author is named in the part of a version that paths do not show.
    const authors = page.changedBy === null ? null : new Map(found.authors).set(snapshotVersion, page.changedBy);
    let isFinal = found.authors.size === 0;
    const items = page.leaves.map((leaf) => {
      const made = versions.get(leaf.sinceVersion);
      if (made === undefined) throw new Error(`version ${leaf.sinceVersion} of a leaf does not exist`);
      const { createdAt, generatedAt, changedBy, ...writer } = made;
      const author = authors === null ? 'null' : (changedBy ?? authors.get(leaf.sinceVersion));
      isFinal &&= author !== undefined;
      return textOf({ ...leaf, ...writer, since: { createdAt, generatedAt }, changedBy: author ?? 'null' });
    });
    const next: PagePosition | null = page.next === null ? null : [snapshotVersion, page.next];
    // Missing parts may soon be filled in, so incomplete pages are not stored.
    if (isFinal) this.keep(snapshot.snapshotId, lastErasure, asked, { items, next });
    return { snapshot, items, next };
  }

  private keep(snapshotId: string, lastErasure: string | null, asked: string, leaves: Leaves): void {
    const cached = this.cache.get(snapshotId);
    const { pages, length } =
      cached?.lastErasure === lastErasure ? cached : { pages: new Map<string, Leaves>(), length: 0 };
    const grown = length + leaves.items.reduce((sum, item) => sum + item.length, asked.length);
    if (grown <= CACHE_LENGTH_OF_VERSION)
      this.cache.set(snapshotId, { lastErasure, pages: new Map(pages).set(asked, leaves), length: grown });
  }

  private async versionOf(reader: Reader, subject: SubjectRef, of: LeavesRequest['of']): Promise<number | null> {
    if (of === null || typeof of === 'number') return of;
    return (await this.times.asOf(reader, subject, of, () => RULES.readLineage)).version;
  }

  private async versions(
    subject: SubjectRef,
    leaves: readonly LeafProvenance[],
  ): Promise<ReadonlyMap<number, VersionFacts>> {
    const versions = [...new Set(leaves.map(({ sinceVersion }) => sinceVersion))];
    if (versions.length === 0) return new Map();
    const facts = await this.provenance.versions(subject, versions);
    return new Map(facts.map((one) => [one.snapshotVersion, one]));
  }

  /** Creates the error for an unknown version. It tells the owner which version is the latest. */
  private async unknown(
    reader: Reader,
    subject: SubjectRef,
    version: number | null,
    isOwner: boolean,
  ): Promise<DomainError> {
    if (version === null || !isOwner) return notFound();
    const { snapshot } = await this.provenance.read(reader, subject, null);
    return snapshot === null ? notFound() : noSuchVersion(version, snapshot.snapshotVersion, '/query/version');
  }
}

function notStored(): DomainError {
  return new DomainError(
    'unavailable',
    'This version and too many earlier ones were written before provenance was stored. Ask the operator to ' +
      'fill it in: npm run tool -- db/fill-provenance.',
  );
}
