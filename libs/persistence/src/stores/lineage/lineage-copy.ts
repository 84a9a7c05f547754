import { type Reader, type SubjectRef } from '@iss/domain';
import type { Replica, ReplicaOutcome } from '../../replica';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { BEFORE_THE_FIRST, type LineageOrder, type LineageRange, type StoredLineage } from './lineage-range';
import { type StoredRow } from '../snapshots/snapshot-record';

/** The smallest number of headers for which a replica is asked. For fewer, the primary's check costs as much as the headers. */
const WORTH_IT = 16;
/** The maximum number of erasures, in any state, of a subject that is read from a replica. */
const MAX_ERASURES = 50;

/** The primary's facts about a range of versions: the number and hash of its newest version, and the erased ones. */
interface Known {
  last: { version: number; hash: string | null } | null;
  /** The number of erasures that were read: all, or {@link MAX_ERASURES} + 1. */
  erasures: number;
  erased: [version: number, erasureId: string, erasedAt: string][];
}

interface Bounds {
  /** The newest version of the range, unless the head is older. */
  upTo: number;
  /** The maximum number of versions. */
  limit: number;
  maxErasures: number;
}

type KnownToReader = Known & Pick<StoredLineage, 'facts' | 'disclosure' | 'headVersion'>;

const knownToReader = (form: 'tenant' | 'global') =>
  statement<Reader & SubjectRef & Bounds, KnownToReader>(`snapshot_lineage_known_${form}`);

const KNOWN_TO_READER = { tenant: knownToReader('tenant'), global: knownToReader('global') };

const KNOWN_BELOW = statement<SubjectRef & Bounds, Known>('snapshot_lineage_known_below');

/** A row from a replica. */
interface Copied {
  snapshot: StoredRow;
  fits: boolean;
  fitsPage: boolean;
}
const copiedStatement = (order: LineageOrder) =>
  statement<SubjectRef & { after: number; limit: number; withEnvelopes: boolean }, Copied>(
    `snapshot_lineage_copied_${order}`,
  );

const COPIED = { asc: copiedStatement('asc'), desc: copiedStatement('desc') };

/** The rows to read from a replica. All of them exist on the primary. */
interface Copying {
  order: LineageOrder;
  after: number;
  count: number;
  withEnvelopes: boolean;
}

/**
 * Reads ranges of a subject's snapshots. The primary decides which versions exist, and a replica supplies their contents. The
 * primary names the hash of the newest version, and the hash chain determines the hashes of the others, so data from another
 * history is rejected. The primary also names the erased versions, whose content is removed. All methods return null if the
 * primary must answer everything, as it does without a replica.
 */
export class LineageCopy {
  constructor(
    private readonly sql: Sql,
    private readonly replica: Replica,
  ) {}

  async read(reader: Reader, subject: SubjectRef, asked: LineageRange): Promise<StoredLineage | null> {
    const { order, limit, withEnvelopes } = asked;
    if (!withEnvelopes && limit < WORTH_IT) return null;
    if (!this.isThere()) return null;
    const after = asked.after ?? BEFORE_THE_FIRST[order];
    const upTo = order === 'asc' ? after + limit : after - 1;
    const query = KNOWN_TO_READER[reader.tenantId === null ? 'global' : 'tenant'];
    const known = await this.sql.one(query, { ...reader, ...subject, upTo, limit, maxErasures: MAX_ERASURES });
    const { facts, disclosure, headVersion, last } = known;
    const count = last === null ? 0 : order === 'asc' ? last.version - after : Math.min(limit, last.version);
    if (count <= 0) return { facts, disclosure, headVersion, snapshots: [], found: 0 };
    const whose = reader.tenantId ?? reader.principalId;
    const rows = await this.copied(whose, subject, known, { order, after, count, withEnvelopes });
    if (rows === null) return null;
    const shown = withEnvelopes ? rows.filter(({ fitsPage }) => fitsPage) : rows;
    return { facts, disclosure, headVersion, snapshots: shown.map(({ snapshot }) => snapshot), found: count };
  }

  async below(subject: SubjectRef, version: number, limit: number): Promise<StoredRow[] | null> {
    if (!this.isThere()) return null;
    const known = await this.sql.one(KNOWN_BELOW, { ...subject, upTo: version - 1, limit, maxErasures: MAX_ERASURES });
    const count = Math.min(limit, known.last?.version ?? 0);
    if (count === 0) return [];
    const whose = `${subject.subjectType}/${subject.subjectId}`;
    const copying = { order: 'desc', after: version, count, withEnvelopes: true } as const;
    const rows = await this.copied(whose, subject, known, copying);
    return rows?.filter(({ fits }) => fits).map(({ snapshot }) => snapshot) ?? null;
  }

  private isThere(): boolean {
    if (!this.replica.isThere) this.replica.count('away');
    return this.replica.isThere;
  }

  private async copied(
    whose: string,
    subject: SubjectRef,
    known: Known,
    { order, after, count, withEnvelopes }: Copying,
  ): Promise<Copied[] | null> {
    if (known.erasures > MAX_ERASURES) return null;
    const query = COPIED[order];
    const rows = await this.replica.run(whose, query, { ...subject, after, limit: count, withEnvelopes });
    if (rows === null) return null;
    const outcome = outcomeOf(order === 'asc' ? rows.toReversed() : rows, known, count);
    this.replica.count(outcome);
    return outcome === 'answered' ? withoutErased(rows, known) : null;
  }
}

/** Compares the rows of a replica, newest first, with the versions and hashes that the primary named. */
function outcomeOf(rows: readonly Copied[], { last }: Known, count: number): ReplicaOutcome {
  if (rows.length < count) return 'behind';
  let version = last?.version ?? 0;
  let hash = last?.hash ?? null;
  for (const { snapshot } of rows) {
    if (snapshot.snapshotVersion !== version) return 'behind';
    if (hash === null || snapshot.envelopeHash !== hash) return 'differs';
    version -= 1;
    hash = snapshot.prevHash;
  }
  return 'answered';
}

/** Removes erased content that the replica may still have. */
function withoutErased(rows: readonly Copied[], { erased }: Known): Copied[] {
  const erasures = new Map(
    erased.map(([version, erasureId, erasedAt]) => [version, { erasureId, erasedAt: new Date(erasedAt) }]),
  );
  return rows.map((row) => {
    const erasure = erasures.get(row.snapshot.snapshotVersion);
    return erasure === undefined ? row : { ...row, snapshot: { ...row.snapshot, envelope: null, erasure } };
  });
}
