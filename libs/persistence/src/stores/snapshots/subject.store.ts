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

/** Who owns a subject, and since when (specification, "Subject"). */
export interface OwnershipRecord extends SubjectRef {
  ownerTenantId: string;
  createdAt: Date;
}

/** A subject of its owner's list. `latest` comes without its envelope. */
export interface OwnedSubject extends SubjectRef {
  createdAt: Date;
  latest: SnapshotRow;
}

/** By what its latest version says a subject is found: an identifier, or how its name begins; both folded. */
export type ContentSearch = { by: 'identifier'; identifier: Identifier } | { by: 'name'; prefix: string };

/**
 * What a subject is found by: how its id begins, byte for byte (empty: every subject), and the evidence to mend (null:
 * whatever backs it); or by what its latest version says.
 */
export type SubjectSearch = { by: 'id'; prefix: string; evidence: EvidenceToMend | null } | ContentSearch;

export interface SubjectFilter {
  /** Null: of every type. */
  subjectType: SubjectType | null;
  search: SubjectSearch;
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

/** The columns of a found subject `s` with its newest snapshot `n`. */
const FOUND = `${FACTS},
  s.subject_type AS "item?.subjectType", s.subject_id AS "item?.subjectId",
       s.created_at AS "item?.createdAt",
  ${columns(snapshotColumns(), 'item?.latest')}`;

/** The subject `last` behind which a page begins. */
const LAST = `LEFT JOIN LATERAL (SELECT s.subject_key FROM subjects s
                      WHERE s.subject_type = :afterType AND s.subject_id = :afterId LIMIT 1) last ON true`;

interface After {
  types: readonly string[];
  afterType: string | number;
  afterId: string | number;
  rows: number;
}

/** By type, then the newest first. */
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
 * By type and name. As in {@link OWNED}, what lies beyond the prefix is cut off after the limit. Owners are found by an
 * expression, with which no other index begins.
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

/** Subjects as such: whose they are, and the list of one tenant's. */
export class SubjectStore {
  constructor(private readonly sql: Sql) {}

  /**
   * A page of the subjects that a tenant owns, each with its newest snapshot's header, by type; then by id in byte order,
   * by name, or of one identifier the newest first; and what the caller may do. Nobody but an active member gets any (contract, "`GET …/subjects` (tenant)").
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

  /** The subject's owner, or null where there is no such subject; and whether the caller may know. */
  owner(actor: Actor, subject: SubjectRef): Promise<{ facts: AccessFacts; ownership: OwnershipRecord | null }> {
    return this.sql.one(OWNER, { ...actor, ...subject });
  }
}
