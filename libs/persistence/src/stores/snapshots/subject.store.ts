import { type AccessFacts, type Actor, SUBJECT_TYPES, type SubjectRef, type SubjectType } from '@iss/domain';
import { columns } from '../../sql/columns';
import { ACTOR, inputRow, SUBJECT } from '../../sql/input';
import { type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { FACTS, MEMBER_ACCESS, TENANT_ACCESS } from '../facts/access-facts';
import { latestSnapshot, NAMED_SUBJECT } from '../facts/joins';
import { snapshotColumns, type SnapshotRecord } from './snapshot-record';

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
  /** Null: whatever backs it. */
  evidence: EvidenceToMend | null;
}

export const EVIDENCE_TO_MEND = ['missing', 'carried'] as const;
/** What is wrong with the evidence of leaves of a latest version (docs/provenance.md). */
export type EvidenceToMend = (typeof EVIDENCE_TO_MEND)[number];

type OwnedStatement = Statement<
  Actor & { types: readonly string[]; after: readonly (string | number)[]; prefix: string; rows: number },
  ListRow<AccessFacts, OwnedSubject>
>;

/**
 * A page of subjects `s`, by type and id. Each type is a range of the index by itself. What a range holds beyond the
 * prefix is cut off after its limit, so that no upper bound is needed and a page's rows are all that is read. Compared as
 * rows, so that no plan walks through the subjects of all tenants.
 */
const owned = (name: string, table: string, createdAt: string, condition = ''): OwnedStatement =>
  statement(
    name,
    `SELECT ${FACTS},
  s.subject_type AS "item?.subjectType", s.subject_id AS "item?.subjectId",
       ${createdAt} AS "item?.createdAt",
  ${columns(snapshotColumns(), 'item?.latest')},
       ARRAY[s.subject_type, s.subject_id] AS position
  FROM ${inputRow(ACTOR)}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (
    SELECT s.*
      FROM unnest(:types::text[], :after::text[]) AS range(subject_type, after)
     CROSS JOIN LATERAL (
       SELECT * FROM ${table} s
        WHERE (s.owner_tenant_id, s.subject_type, s.subject_id) >=
                (i.tenant_id, range.subject_type, greatest(range.after COLLATE "C", :prefix))
          AND (s.owner_tenant_id, s.subject_type) <= (i.tenant_id, range.subject_type)
          AND s.subject_id <> range.after AND f.member_status = 'active' ${condition}
        ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT :rows
     ) s
     WHERE starts_with(s.subject_id, :prefix)
     ORDER BY s.subject_type, s.subject_id LIMIT :rows
  ) s ON true
  ${latestSnapshot('s.subject_key', 'n')}
 ORDER BY s.subject_type, s.subject_id`,
  );

const OWNED = owned('subjects_owned', 'subjects', 's.created_at');
const CREATED_AT = '(SELECT o.created_at FROM subjects o WHERE o.subject_key = s.subject_key LIMIT 1)';
/** The same list of those that are marked, of which there is a row alone. */
const TO_MEND: Record<EvidenceToMend, OwnedStatement> = {
  missing: owned('subjects_evidence_missing', 'subject_evidence', CREATED_AT, 'AND s.has_missing'),
  carried: owned('subjects_evidence_carried', 'subject_evidence', CREATED_AT, 'AND s.has_carried'),
};

const OWNER = statement<Actor & SubjectRef, { facts: AccessFacts; ownership: OwnershipRecord | null }>(
  'subject_owner',
  `SELECT ${FACTS},
  s.subject_type AS "ownership?.subjectType", s.subject_id AS "ownership?.subjectId",
       s.owner_tenant_id AS "ownership?.ownerTenantId", s.created_at AS "ownership?.createdAt"
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
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
    actor: Actor,
    { subjectType, subjectIdPrefix: prefix, evidence }: SubjectFilter,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<OwnedSubject> }> {
    const [afterType = '', afterId = ''] = after ?? [];
    const types = SUBJECT_TYPES.filter((type) => (subjectType === null || type === subjectType) && type >= afterType);
    const rows = await this.sql.run(evidence === null ? OWNED : TO_MEND[evidence], {
      ...actor,
      types,
      after: types.map((type) => (type === afterType ? afterId : '')),
      prefix,
      rows: limit + 1,
    });
    return toList(rows, limit);
  }

  /** The subject's owner, or null where there is no such subject; and whether the caller may know. */
  owner(actor: Actor, subject: SubjectRef): Promise<{ facts: AccessFacts; ownership: OwnershipRecord | null }> {
    return this.sql.one(OWNER, { ...actor, ...subject });
  }
}
