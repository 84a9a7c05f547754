import type { AccessFacts, Reader, SubjectRef } from '@iss/domain';
import { type Sql, type Statement, statement } from '../../sql/sql';
import {
  ACCESS_COLUMNS,
  type AccessFactsRow,
  ANY_TENANT_ACCESS,
  TENANT_ACCESS,
  toAccessFacts,
} from '../facts/access-facts';
import { NAMED_SUBJECT } from '../facts/joins';
import { SNAPSHOT_HEADER_COLUMNS, type SnapshotRecord, type SnapshotRow, toSnapshotRecord } from './snapshot-row';

export const LINEAGE_ORDERS = ['asc', 'desc'] as const;
export type LineageOrder = (typeof LINEAGE_ORDERS)[number];

/** Which snapshots of a subject are read: `limit` of them, in order of their versions, after the version `after`. */
export interface LineageRange {
  order: LineageOrder;
  /** Null: from the first in this order on. */
  after: number | null;
  limit: number;
  withEnvelopes: boolean;
}

/** What a read of several snapshots found, and the facts by which it is decided whether the caller may see them. */
export interface LineageRead {
  facts: AccessFacts;
  /** The newest version, which is also the number of versions; null when the subject does not exist. */
  headVersion: number | null;
  /** Envelopes stand on the first of them: on as many as fit into {@link ENVELOPE_BYTES}, and on one at least. */
  snapshots: SnapshotRecord[];
}

/** UTF-8 bytes of envelopes in the rows of one statement: so much of a long list lies in memory at once. */
export const ENVELOPE_BYTES = 2 * 1024 * 1024;

type Form = 'tenant' | 'global';
type LineageRow = AccessFactsRow & SnapshotRow & { head_version: number | null };

/** `limit` snapshots of subject `s` in order, each with the bytes of the envelopes before it, whose texts are not read. */
function range(order: LineageOrder, after: string, limit: string): string {
  const [compare, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC'];
  return `LATERAL (
  SELECT n.*, sum(octet_length(n.envelope)) OVER (ORDER BY n.snapshot_version ${direction})
              - octet_length(n.envelope) AS bytes_before
    FROM (SELECT n.* FROM snapshots n
           WHERE n.subject_key = s.subject_key AND n.snapshot_version ${compare} ${after}
           ORDER BY n.snapshot_version ${direction} LIMIT ${limit}) n
) n`;
}

const FITS = `n.bytes_before < ${ENVELOPE_BYTES}`;
const BEFORE_THE_FIRST = { asc: 0, desc: 2 ** 31 };

function lineageStatement(order: LineageOrder, form: Form): Statement<LineageRow> {
  return statement<LineageRow>(
    `snapshot_lineage_${order}_${form}`,
    `SELECT ${ACCESS_COLUMNS}, ${SNAPSHOT_HEADER_COLUMNS},
  CASE WHEN i.with_envelopes AND ${FITS} THEN n.envelope END AS envelope, head_version
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id,
               $7::boolean AS with_envelopes) i
${NAMED_SUBJECT}
${form === 'tenant' ? TENANT_ACCESS : ANY_TENANT_ACCESS}
LEFT JOIN LATERAL (SELECT max(snapshot_version) AS head_version FROM snapshots WHERE subject_key = s.subject_key) h ON true
LEFT JOIN ${range(order, `coalesce($5::bigint, ${BEFORE_THE_FIRST[order]})`, '$6')} ON true
 ORDER BY n.snapshot_version ${order}`,
  );
}

function lineageStatements(order: LineageOrder): Record<Form, Statement<LineageRow>> {
  return { tenant: lineageStatement(order, 'tenant'), global: lineageStatement(order, 'global') };
}

const LINEAGE = { asc: lineageStatements('asc'), desc: lineageStatements('desc') };

const BELOW = statement<SnapshotRow>(
  'snapshot_lineage_below',
  `SELECT ${SNAPSHOT_HEADER_COLUMNS}, n.envelope
  FROM subjects s
  CROSS JOIN ${range('desc', '$3::bigint', '$4')}
 WHERE s.subject_type = $1 AND s.subject_id = $2 AND ${FITS}
 ORDER BY n.snapshot_version DESC`,
);

/** Reads of many snapshots of one subject, a bounded number of bytes at a time. */
export class SnapshotListStore {
  constructor(private readonly sql: Sql) {}

  /** A range of a subject's snapshots together with the access facts, in one statement. */
  async read(reader: Reader, subject: SubjectRef, range: LineageRange): Promise<LineageRead> {
    const query = LINEAGE[range.order][reader.tenantId === null ? 'global' : 'tenant'];
    const rows = await this.sql.run(query, [
      reader.tenantId,
      reader.principalId,
      subject.subjectType,
      subject.subjectId,
      range.after,
      range.limit,
      range.withEnvelopes,
    ]);
    const [first] = rows;
    if (first === undefined) throw new Error(`${query.name} answered no row`);
    return { facts: toAccessFacts(first), headVersion: first.head_version, snapshots: toRecords(rows) };
  }

  /**
   * The next snapshots below a version with their envelopes, newest first: at most `limit`, as many as fit into
   * {@link ENVELOPE_BYTES}, and one at least if there is one. For a reader who may see the version itself.
   */
  async below(subject: SubjectRef, version: number, limit: number): Promise<SnapshotRecord[]> {
    return toRecords(await this.sql.run(BELOW, [subject.subjectType, subject.subjectId, version, limit]));
  }
}

function toRecords(rows: readonly SnapshotRow[]): SnapshotRecord[] {
  return rows.map(toSnapshotRecord).filter((record) => record !== null);
}
