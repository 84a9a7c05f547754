import { type AccessFacts, type Reader, RULES, type SubjectRef } from '@iss/domain';
import { columns } from '../../sql/columns';
import { ACTOR, inputRow, SUBJECT } from '../../sql/input';
import { PAGE_BYTES } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { anyTenantAccess, DISCLOSURE, FACTS, type SubjectDisclosure, TENANT_ACCESS } from '../facts/access-facts';
import { NAMED_SUBJECT } from '../facts/joins';
import { snapshotColumns, type SnapshotRecord } from './snapshot-record';

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
  /** Null for the owner, and where there is no subject. */
  disclosure: SubjectDisclosure | null;
  /** The newest version, which is also the number of versions; null when the subject does not exist. */
  headVersion: number | null;
  /**
   * Envelopes stand on the first of them: on as many as fit into {@link ENVELOPE_BYTES}, and on one at least. With
   * envelopes, those that do not fit into {@link PAGE_BYTES} together are left out, the first one never.
   */
  snapshots: SnapshotRecord[];
  /** How many there were, those left out included. */
  found: number;
}

/** UTF-8 bytes of envelopes in the rows of one statement: so much of a long list lies in memory at once. */
export const ENVELOPE_BYTES = 2 * 1024 * 1024;

/** `limit` snapshots of subject `s` in order, each with the bytes of the envelopes before it, whose texts are not read. */
function range(order: LineageOrder, after: string): string {
  const [compare, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC'];
  return `LATERAL (
  SELECT n.*, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY n.snapshot_version ${direction})
              - coalesce(octet_length(n.envelope), 0) AS bytes_before, count(*) OVER ()::int AS found
    FROM (SELECT n.* FROM snapshots n
           WHERE n.subject_key = s.subject_key AND n.snapshot_version ${compare} ${after}
           ORDER BY n.snapshot_version ${direction} LIMIT :limit) n
) n`;
}

const FITS = `n.bytes_before < ${ENVELOPE_BYTES}`;
const FITS_PAGE = `(n.bytes_before = 0 OR n.bytes_before + coalesce(octet_length(n.envelope), 0) <= ${PAGE_BYTES})`;
const BEFORE_THE_FIRST = { asc: 0, desc: 2 ** 31 };

const HEAD = `LEFT JOIN LATERAL (SELECT max(snapshot_version) AS head_version FROM snapshots
                      WHERE subject_key = s.subject_key) h ON true`;
const ACCESS = { tenant: TENANT_ACCESS, global: anyTenantAccess(RULES.readLineage.subject) };
type Form = keyof typeof ACCESS;
const formOf = ({ tenantId }: Reader): Form => (tenantId === null ? 'global' : 'tenant');

interface LineageRow extends Omit<LineageRead, 'snapshots' | 'found'> {
  snapshot: SnapshotRecord | null;
  found: number | null;
}
type LineageStatement = Statement<Reader & SubjectRef & Omit<LineageRange, 'order'>, LineageRow>;

function lineageStatement(order: LineageOrder, form: Form): LineageStatement {
  const envelope = `CASE WHEN :withEnvelopes::boolean AND ${FITS} THEN n.envelope END`;
  return statement(
    `snapshot_lineage_${order}_${form}`,
    `SELECT ${FACTS},
  ${DISCLOSURE[form]},
  ${columns(snapshotColumns(envelope), 'snapshot?')},
  head_version AS "headVersion", n.found
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${ACCESS[form]}
  ${HEAD}
  LEFT JOIN ${range(order, `coalesce(:after::bigint, ${BEFORE_THE_FIRST[order]})`)}
    ON NOT :withEnvelopes::boolean OR ${FITS_PAGE}
 ORDER BY n.snapshot_version ${order}`,
  );
}

const LINEAGE = {
  asc: { tenant: lineageStatement('asc', 'tenant'), global: lineageStatement('asc', 'global') },
  desc: { tenant: lineageStatement('desc', 'tenant'), global: lineageStatement('desc', 'global') },
};

type ListedStatement = Statement<
  Reader & SubjectRef & { versions: readonly number[]; withEnvelopes: boolean },
  LineageRow
>;

function listedStatement(form: Form): ListedStatement {
  const envelope = `CASE WHEN :withEnvelopes::boolean AND ${FITS} THEN n.envelope END`;
  return statement(
    `snapshot_lineage_listed_${form}`,
    `SELECT ${FACTS},
  ${DISCLOSURE[form]},
  ${columns(snapshotColumns(envelope), 'snapshot?')},
  head_version AS "headVersion", n.found
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${ACCESS[form]}
  ${HEAD}
  LEFT JOIN LATERAL (
    SELECT n.*, v.place, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY v.place)
           - coalesce(octet_length(n.envelope), 0) AS bytes_before,
           count(*) OVER ()::int AS found
      FROM unnest(:versions::int[]) WITH ORDINALITY AS v(version, place)
     CROSS JOIN LATERAL (SELECT * FROM snapshots n
                          WHERE n.subject_key = s.subject_key AND n.snapshot_version = v.version LIMIT 1) n
  ) n ON NOT :withEnvelopes::boolean OR ${FITS_PAGE}
 ORDER BY n.place`,
  );
}

const LISTED = { tenant: listedStatement('tenant'), global: listedStatement('global') };

const BELOW = statement<SubjectRef & { version: number; limit: number }, SnapshotRecord>(
  'snapshot_lineage_below',
  `SELECT ${columns(snapshotColumns('n.envelope'))}
  FROM subjects s
  CROSS JOIN ${range('desc', ':version::bigint')}
 WHERE s.subject_type = :subjectType AND s.subject_id = :subjectId AND ${FITS}
 ORDER BY n.snapshot_version DESC`,
);

const ABOVE = statement<SubjectRef & { version: number; limit: number }, SnapshotRecord>(
  'snapshot_lineage_above',
  `SELECT ${columns(snapshotColumns('n.envelope'))}
  FROM subjects s
  CROSS JOIN ${range('asc', ':version::bigint')}
 WHERE s.subject_type = :subjectType AND s.subject_id = :subjectId AND ${FITS}
 ORDER BY n.snapshot_version`,
);

/** Reads of many snapshots of one subject, a bounded number of bytes at a time. */
export class SnapshotListStore {
  constructor(private readonly sql: Sql) {}

  /** A range of a subject's snapshots together with the access facts, in one statement. */
  async read(reader: Reader, subject: SubjectRef, range: LineageRange): Promise<LineageRead> {
    const query = LINEAGE[range.order][formOf(reader)];
    const whose = reader.tenantId ?? reader.principalId;
    return toRead(query, await this.sql.runInTurn(whose, query, { ...reader, ...subject, ...range }));
  }

  /** The same of these versions, in the order in which they are named. */
  async listed(
    reader: Reader,
    subject: SubjectRef,
    list: { versions: readonly number[]; withEnvelopes: boolean },
  ): Promise<LineageRead> {
    const query = LISTED[formOf(reader)];
    const whose = reader.tenantId ?? reader.principalId;
    return toRead(query, await this.sql.runInTurn(whose, query, { ...reader, ...subject, ...list }));
  }

  /**
   * The next snapshots below a version with their envelopes, newest first: at most `limit`, as many as fit into
   * {@link ENVELOPE_BYTES}, and one at least if there is one. For a reader who may see the version itself.
   */
  async below(subject: SubjectRef, version: number, limit: number): Promise<SnapshotRecord[]> {
    const whose = `${subject.subjectType}/${subject.subjectId}`;
    return this.sql.runInTurn(whose, BELOW, { ...subject, version, limit });
  }

  /** The same above a version, oldest first. */
  async above(subject: SubjectRef, version: number, limit: number): Promise<SnapshotRecord[]> {
    const whose = `${subject.subjectType}/${subject.subjectId}`;
    return this.sql.runInTurn(whose, ABOVE, { ...subject, version, limit });
  }
}

function toRead({ name }: { name: string }, rows: readonly LineageRow[]): LineageRead {
  const [first] = rows;
  if (first === undefined) throw new Error(`${name} answered no row`);
  const snapshots = rows.map(({ snapshot }) => snapshot).filter((snapshot) => snapshot !== null);
  const { facts, disclosure, headVersion, found } = first;
  return { facts, disclosure, headVersion, snapshots, found: found ?? 0 };
}
