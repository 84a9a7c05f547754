import {
  type AccessFacts,
  type Actor,
  type Identifier,
  SUBJECT_TYPES,
  type SubjectRef,
  type SubjectType,
} from '@iss/domain';
import { columns } from '../../sql/columns';
import { ACTOR, inputRow, SUBJECT } from '../../sql/input';
import { type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { FACTS, MEMBER_ACCESS, TENANT_ACCESS } from '../facts/access-facts';
import { latestSnapshot, NAMED_SUBJECT } from '../facts/joins';
import { snapshotColumns, type SnapshotRow } from './snapshot-record';

/** The owner of a subject and the time of its creation (specification, "Subject"). */
export interface OwnershipRecord extends SubjectRef {
  ownerTenantId: string;
  createdAt: Date;
}

/** A subject in the list of its owner. `latest` has no envelope. */
export interface OwnedSubject extends SubjectRef {
  name: string | null;
  createdAt: Date;
  latest: SnapshotRow;
}

/** A search by the latest version: an identifier, or the start of the name. Both are folded. */
export type ContentSearch = { by: 'identifier'; identifier: Identifier } | { by: 'name'; prefix: string };

/**
 * A search by the start of the id, byte for byte (empty for all), and by evidence to mend (null for any); or a search by content.
 */
export type SubjectSearch = { by: 'id'; prefix: string; evidence: EvidenceToMend | null } | ContentSearch;

export interface SubjectFilter {
  /** Null for every type. */
  subjectType: SubjectType | null;
  search: SubjectSearch;
}

export const EVIDENCE_TO_MEND = ['missing', 'carried'] as const;
/** A fault in the evidence of leaves of a latest version (docs/provenance.md). */
export type EvidenceToMend = (typeof EVIDENCE_TO_MEND)[number];

type OwnedStatement = Statement<
  Actor & { types: readonly string[]; after: readonly (string | number)[]; prefix: string; rows: number },
  ListRow<AccessFacts, OwnedSubject>
>;

/**
 * Declares a page of subjects `s`, by type and id. Each type is a separate range of the index. Rows of a range that do not match
 * the prefix are removed after its limit, so no upper bound is needed, and only the page's rows are read. It compares rows, so
 * that no plan scans the subjects of all tenants.
 */
const owned = (
  name: string,
  table: string,
  subject: { name: string; createdAt: string },
  condition = '',
): OwnedStatement =>
  statement(
    name,
    `SELECT ${FACTS},
  s.subject_type AS "item?.subjectType", s.subject_id AS "item?.subjectId",
       ${subject.name} AS "item?.name", ${subject.createdAt} AS "item?.createdAt",
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

const OWNED = owned('subjects_owned', 'subjects', { name: 's.display_name', createdAt: 's.created_at' });
const ofSubject = (column: string): string =>
  `(SELECT o.${column} FROM subjects o WHERE o.subject_key = s.subject_key LIMIT 1)`;
const MARKED = { name: ofSubject('display_name'), createdAt: ofSubject('created_at') };
/** The same list for subjects with evidence to mend. Only these have a row in the table. */
const TO_MEND: Record<EvidenceToMend, OwnedStatement> = {
  missing: owned('subjects_evidence_missing', 'subject_evidence', MARKED, 'AND s.has_missing'),
  carried: owned('subjects_evidence_carried', 'subject_evidence', MARKED, 'AND s.has_carried'),
};

/** Selects a found subject `s` with its newest snapshot `n`. */
const FOUND = `${FACTS},
  s.subject_type AS "item?.subjectType", s.subject_id AS "item?.subjectId",
       s.display_name AS "item?.name", s.created_at AS "item?.createdAt",
  ${columns(snapshotColumns(), 'item?.latest')}`;

/** Joins the subject `last` after which a page starts. */
const LAST = `LEFT JOIN LATERAL (SELECT s.subject_key FROM subjects s
                      WHERE s.subject_type = :afterType AND s.subject_id = :afterId LIMIT 1) last ON true`;

interface After {
  types: readonly string[];
  afterType: string | number;
  afterId: string | number;
  rows: number;
}

/** Lists by type, then newest first. */
const BY_IDENTIFIER = statement<Actor & Identifier & After, ListRow<AccessFacts, OwnedSubject>>(
  'subjects_by_identifier',
  `SELECT ${FOUND},
       ARRAY[s.subject_type, s.subject_id] AS position
  FROM ${inputRow(ACTOR)}
  ${MEMBER_ACCESS}
  ${LAST}
  LEFT JOIN LATERAL (
    SELECT d.subject_type, d.subject_key
      FROM unnest(:types::text[]) AS range(subject_type)
     CROSS JOIN LATERAL (
       SELECT * FROM subject_identifiers d
        WHERE (d.owner_tenant_id, d.scheme, d.value, d.subject_type, -d.subject_key)
                > (i.tenant_id, :scheme, :value, range.subject_type,
                   CASE range.subject_type WHEN :afterType THEN -last.subject_key ELSE -9223372036854775807 END)
          AND (d.owner_tenant_id, d.scheme, d.value, d.subject_type) <= (i.tenant_id, :scheme, :value, range.subject_type)
          AND f.member_status = 'active'
        ORDER BY d.owner_tenant_id, d.scheme, d.value, d.subject_type, -d.subject_key LIMIT :rows
     ) d
     ORDER BY d.subject_type, -d.subject_key LIMIT :rows
  ) d ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = d.subject_key LIMIT 1) s ON true
  ${latestSnapshot('s.subject_key', 'n')}
 ORDER BY d.subject_type, -d.subject_key`,
);

/**
 * Lists by type and name. As in {@link OWNED}, rows that do not match the prefix are removed after the limit. The expression on
 * the owner matches no other index.
 */
const BY_NAME = statement<
  Actor & After & { prefix: string; afterName: string | number },
  ListRow<AccessFacts, OwnedSubject>
>(
  'subjects_by_name',
  `SELECT ${FOUND},
       ARRAY[s.subject_type, s.subject_id, s.name] AS position
  FROM ${inputRow(ACTOR)}
  ${MEMBER_ACCESS}
  ${LAST}
  LEFT JOIN LATERAL (
    SELECT s.*
      FROM unnest(:types::text[]) AS range(subject_type)
     CROSS JOIN LATERAL (
       SELECT * FROM subjects s
        WHERE (s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key)
                > (i.tenant_id || '/', range.subject_type,
                   CASE range.subject_type WHEN :afterType THEN :afterName ELSE :prefix END COLLATE "C",
                   CASE range.subject_type WHEN :afterType THEN last.subject_key ELSE 0 END)
          AND (s.owner_tenant_id || '/', s.subject_type) <= (i.tenant_id || '/', range.subject_type)
          AND s.name IS NOT NULL AND f.member_status = 'active'
        ORDER BY s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key LIMIT :rows
     ) s
     WHERE starts_with(s.name, :prefix)
     ORDER BY s.subject_type, s.name, s.subject_key LIMIT :rows
  ) s ON true
  ${latestSnapshot('s.subject_key', 'n')}
 ORDER BY s.subject_type, s.name, s.subject_key`,
);

const OWNER = statement<Actor & SubjectRef, { facts: AccessFacts; ownership: OwnershipRecord | null }>(
  'subject_owner',
  `SELECT ${FACTS},
  s.subject_type AS "ownership?.subjectType", s.subject_id AS "ownership?.subjectId",
       s.owner_tenant_id AS "ownership?.ownerTenantId", s.created_at AS "ownership?.createdAt"
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}`,
);

/** The owners of subjects, and the list of one tenant's subjects. */
export class SubjectStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Returns a page of the subjects that a tenant owns, each with the header of its newest snapshot, and the caller's access
   * facts. The order is by type, and then by id in byte order or by name; with an identifier, newest first. Only an active member
   * gets any (contract, "`GET …/subjects` (tenant)").
   */
  async owned(
    actor: Actor,
    { subjectType, search }: SubjectFilter,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<OwnedSubject> }> {
    const [afterType = '', afterId = '', afterName = ''] = after ?? [];
    const types = SUBJECT_TYPES.filter((type) => (subjectType === null || type === subjectType) && type >= afterType);
    const place = { ...actor, types, afterType, afterId, rows: limit + 1 };
    switch (search.by) {
      case 'id': {
        const { prefix, evidence } = search;
        const afters = types.map((type) => (type === afterType ? afterId : ''));
        const query = evidence === null ? OWNED : TO_MEND[evidence];
        return toList(await this.sql.run(query, { ...place, after: afters, prefix }), limit);
      }
      case 'identifier':
        return toList(await this.sql.run(BY_IDENTIFIER, { ...place, ...search.identifier }), limit);
      case 'name':
        return toList(await this.sql.run(BY_NAME, { ...place, prefix: search.prefix, afterName }), limit);
    }
  }

  /** Returns the subject's owner, or null if there is no subject, and the caller's access facts. */
  owner(actor: Actor, subject: SubjectRef): Promise<{ facts: AccessFacts; ownership: OwnershipRecord | null }> {
    return this.sql.one(OWNER, { ...actor, ...subject });
  }
}
