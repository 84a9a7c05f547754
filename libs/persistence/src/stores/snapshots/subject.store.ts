import { type AccessFacts, type Actor, SUBJECT_TYPES, type SubjectRef, type SubjectType } from '@iss/domain';
import { type Page, type PageRequest, toPage } from '../../sql/page';
import { type Sql, statement } from '../../sql/sql';
import { ACCESS_COLUMNS, type AccessFactsRow, TENANT_ACCESS, toAccessFacts } from '../facts/access-facts';
import { latestSnapshot, NAMED_SUBJECT } from '../facts/joins';
import { MEMBER_ACCESS } from '../tenancy/memberships';
import { SNAPSHOT_HEADER_COLUMNS, type SnapshotRecord, type SnapshotRow, toSnapshotRecord } from './snapshot-row';

/** Who owns a subject, and since when (specification, "Subject"). */
export interface OwnershipRecord extends SubjectRef {
  ownerTenantId: string;
  createdAt: Date;
}

/** A subject of its owner's list. `latest` comes without its envelope. */
export interface OwnedSubject extends SubjectRef {
  createdAt: Date;
  latest: SnapshotRecord;
}

export interface SubjectFilter {
  /** Null: of every type. */
  subjectType: SubjectType | null;
  /** Compared byte for byte; empty: every subject. */
  subjectIdPrefix: string;
}

/**
 * A page of subjects `s`, by type and id. Each type is a range of the index by itself. What a range holds beyond the
 * prefix is cut off after its limit, so that no upper bound is needed and a page's rows are all that is read. Compared as
 * rows, so that no plan walks through the subjects of all tenants.
 */
const OWNED = statement<AccessFactsRow & SnapshotRow & { subject_created_at: Date | null }>(
  'subjects_owned',
  `SELECT ${ACCESS_COLUMNS}, s.created_at AS subject_created_at, ${SNAPSHOT_HEADER_COLUMNS}, NULL::text AS envelope
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (
    SELECT s.*
      FROM unnest($3::text[], $4::text[]) AS range(subject_type, after)
     CROSS JOIN LATERAL (
       SELECT * FROM subjects s
        WHERE (s.owner_tenant_id, s.subject_type, s.subject_id) >=
                (i.tenant_id, range.subject_type, greatest(range.after COLLATE "C", $5))
          AND (s.owner_tenant_id, s.subject_type) <= (i.tenant_id, range.subject_type)
          AND s.subject_id <> range.after AND f.member_status = 'active'
        ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT $6
     ) s
     WHERE starts_with(s.subject_id, $5)
     ORDER BY s.subject_type, s.subject_id LIMIT $6
  ) s ON true
  ${latestSnapshot('s.subject_key', 'n')}
 ORDER BY s.subject_type, s.subject_id`,
);

const OWNER = statement<AccessFactsRow & { owner_tenant_id: string | null; created_at: Date | null }>(
  'subject_owner',
  `SELECT ${ACCESS_COLUMNS}, s.owner_tenant_id, s.created_at
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}`,
);

/** Subjects as such: whose they are, and the list of one tenant's. */
export class SubjectStore {
  constructor(private readonly sql: Sql) {}

  /**
   * A page of the subjects that a tenant owns, each with its newest snapshot's header, by type and id in byte order; and
   * what the caller may do. Nobody but an active member gets any (contract, "`GET …/subjects` (tenant)").
   */
  async owned(
    { tenantId, principalId }: Actor,
    { subjectType, subjectIdPrefix }: SubjectFilter,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<OwnedSubject> }> {
    const [afterType = '', afterId = ''] = after ?? [];
    const types = SUBJECT_TYPES.filter((type) => (subjectType === null || type === subjectType) && type >= afterType);
    const rows = await this.sql.run(OWNED, [
      tenantId,
      principalId,
      types,
      types.map((type) => (type === afterType ? afterId : '')),
      subjectIdPrefix,
      limit + 1,
    ]);
    const [first] = rows;
    if (first === undefined) throw new Error('subjects_owned answered no row');
    const subjects = rows.flatMap((row): OwnedSubject[] => {
      const latest = toSnapshotRecord(row);
      if (latest === null || row.subject_created_at === null) return [];
      return [
        { subjectType: latest.subjectType, subjectId: latest.subjectId, createdAt: row.subject_created_at, latest },
      ];
    });
    const page = toPage(
      subjects,
      limit,
      (subject) => subject,
      (subject) => [subject.subjectType, subject.subjectId],
    );
    return { facts: toAccessFacts(first), page };
  }

  /** The subject's owner, or null where there is no such subject; and whether the caller may know. */
  async owner(
    { tenantId, principalId }: Actor,
    subject: SubjectRef,
  ): Promise<{ facts: AccessFacts; ownership: OwnershipRecord | null }> {
    const [row] = await this.sql.run(OWNER, [tenantId, principalId, subject.subjectType, subject.subjectId]);
    if (row === undefined) throw new Error('subject_owner answered no row');
    const { owner_tenant_id: ownerTenantId, created_at: createdAt } = row;
    return {
      facts: toAccessFacts(row),
      ownership: ownerTenantId === null || createdAt === null ? null : { ...subject, ownerTenantId, createdAt },
    };
  }
}
