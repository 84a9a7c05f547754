import {
  type AccessFacts,
  type Actor,
  type Identifier,
  MAX_NAME,
  RULES,
  SUBJECT_TYPES,
  type SubjectType,
} from '@iss/domain';
import { columns } from '../../sql/columns';
import { type ListRow, type Page, type PagePosition, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, isAcceptedGrantToAll, isLiveGrant, LIVE_GRANT, MEMBER_ACCESS, TO_ALL } from '../facts/access-facts';
import { latestSnapshot } from '../facts/joins';
import { snapshotColumns, type SnapshotRow } from '../snapshots/snapshot-record';
import type { ContentSearch } from '../snapshots/subject.store';
import { grantColumns, type GrantRecord } from './grant-record';

/**
 * A subject that a tenant may read by a live grant. If it has two, `grant` is the one on this subject, with the scopes of both.
 * `latest` has no envelope, and is null unless a scope covers it.
 */
export interface AccessibleSubject {
  grant: GrantRecord;
  latest: SnapshotRow | null;
  /** Set for a search by content, which is recorded; else null. */
  name: string | null;
  subjectKey: number;
}

/** The columns of a grant that {@link grantColumns} needs. */
const GRANT_COLUMNS = `grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
         granted_by, purpose, accepted_at`;

/**
 * The maximum number of grants, and of owners of all subjects, that one page examines. Others may give a tenant any number of
 * grants that have since expired. A page ends after this number, short or empty, and the next page continues there.
 */
const LOOKED_AT = 1_000;

/** Selects accessible subjects; a null member selects all. */
export interface AccessibleFilter {
  subjectType: SubjectType | null;
  /** One subject; requires `subjectType`. */
  subjectId: string | null;
  /** The first characters of the id, compared byte for byte. */
  prefix: string;
  grantorTenantId: string | null;
}

/** The start of a page of accessible subjects. */
interface AfterAccessible {
  /** After this grant on a subject; null at the start. */
  afterGrantId: string | number | null;
  /** After all grants on one subject: from this owner on, after its subject of this type and id. */
  fromOwner: string | number | null;
  afterType: string | number;
  afterId: string | number;
}

/** True if the caller may use grants at all. */
const MAY_USE_GRANTS = `c.member_status = 'active' AND c.allow_counterparty_access`;

/** Selects the first owner, from `from` on, whose grant on all subjects `c` accepted. The grant need not be live. */
const ownerFrom = (comparison: '>' | '>=', from: string): string => `
    SELECT g.grantor_tenant_id FROM grants g
     WHERE (g.grantee_tenant_id, g.grantor_tenant_id) ${comparison} (c.tenant_id, ${from})
       AND g.grantee_tenant_id <= c.tenant_id AND ${TO_ALL.accepted}
     ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT 1`;

/** The parts in which the lists of accessible subjects differ. */
interface Listed {
  /** The grants `one` on one subject each. */
  live: string;
  /** A further condition on such a grant. */
  one: string;
  /** A further condition on a grant `g` on all subjects. */
  grants: string;
  /** Selects the next subjects `s` of owner `o`. */
  subjects: string;
  /** The columns that order these subjects. */
  order: string;
  /** Values that a position has after the type and id of `s`; starts with a comma. */
  further: string;
  /** The name of a subject `s` that is shown; none unless given. */
  name?: string;
  /**
   * For a list of one subject: one row with the columns `subject_key` and `owner_tenant_id`. For a list of one grantor: its id.
   */
  named?: { subject: string; grantor: string };
}

/**
 * Lists accessible subjects in two parts.
 *
 * The first part has the subjects of grants on one subject, unless the owner granted all of its subjects. It is ordered by
 * subject key, as is the index of live grants. Subject keys are numbered across all tenants, so a position names a grant instead:
 * the last one shown, or the last one examined (`ended`). A subject may have further grants after that one, expired ones and the
 * live one, so its live grant is searched separately.
 *
 * The second part has all subjects of each owner that granted them all, in the order of owners. `owners` skips any number of
 * expired grants. Each lateral search follows the order of the rows before it, so LIMIT ends all of them.
 */
const accessible = <Search extends object = object>(
  name: string,
  { named = { subject: NO_SUBJECT, grantor: 'NULL::text' }, name: shown = 'NULL::text', ...listed }: Listed,
) =>
  statement<
    Actor & AfterAccessible & { rows: number } & Search,
    ListRow<AccessFacts, AccessibleSubject> & { ended: PagePosition | null }
  >(
    name,
    `WITH RECURSIVE caller AS MATERIALIZED (
  SELECT i.*, f.*
    FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id,
                 greatest(named.subject_key - 1, (SELECT last.subject_key FROM grants last
                            WHERE last.grant_id = :afterGrantId::uuid AND last.grantee_tenant_id = :tenantId), 0) AS after,
                 coalesce(named.subject_key, 9223372036854775807) AS up_to,
                 coalesce(named.owner_tenant_id, ${named.grantor}) AS owner_tenant_id
            FROM ${named.subject} named) i
    ${MEMBER_ACCESS}
), looked_at AS MATERIALIZED (
  SELECT g.*, (${LIVE_GRANT}) AS is_live, row_number() OVER (ORDER BY g.subject_key) AS place
    FROM caller c
   CROSS JOIN LATERAL (
     SELECT * FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) > (c.tenant_id, c.after)
        AND (g.grantee_tenant_id, g.subject_key) <= (c.tenant_id, c.up_to)
        AND ${MAY_USE_GRANTS} AND :fromOwner::text IS NULL AND g.revoked_at IS NULL
      ORDER BY g.grantee_tenant_id, g.subject_key LIMIT ${LOOKED_AT}
   ) g
), ended AS MATERIALIZED (
  SELECT c.tenant_id, l.grant_id, l.subject_key FROM caller c CROSS JOIN looked_at l WHERE l.place = ${LOOKED_AT}
), live AS MATERIALIZED (
  SELECT ${GRANT_COLUMNS} FROM looked_at g
   WHERE g.is_live AND (g.subject_key = (SELECT subject_key FROM ended)) IS NOT TRUE
   UNION ALL
  SELECT g.* FROM ended e
   CROSS JOIN LATERAL (SELECT ${GRANT_COLUMNS} FROM grants g
                        WHERE ${isLiveGrant('e.tenant_id', 'e.subject_key')} LIMIT 1) g
), single AS MATERIALIZED (
  SELECT one.*, ARRAY[one.grant_id::text] AS position FROM ${listed.live} one
   WHERE (SELECT true FROM grants g
           WHERE ${isAcceptedGrantToAll('one.grantor_tenant_id', 'one.grantee_tenant_id')}${listed.grants} LIMIT 1) IS NULL${listed.one}
   ORDER BY one.subject_key LIMIT :rows
), owners AS (
  SELECT (${ownerFrom('>=', `coalesce(:fromOwner::text, c.owner_tenant_id, '')`)}) AS tenant_id, 1 AS place
    FROM caller c WHERE ${MAY_USE_GRANTS} AND NOT EXISTS (SELECT FROM ended)
   UNION ALL
  SELECT (${ownerFrom('>', 'o.tenant_id')}), o.place + 1
    FROM owners o CROSS JOIN caller c WHERE o.tenant_id IS NOT NULL AND c.owner_tenant_id IS NULL AND o.place <= ${LOOKED_AT}
), of_all AS MATERIALIZED (
  SELECT coalesce(one.grant_id, every.grant_id) AS grant_id, every.grantor_tenant_id, every.grantee_tenant_id,
         s.subject_key,
         CASE WHEN one.grant_id IS NULL THEN every.scopes
              ELSE ARRAY(SELECT DISTINCT unnest(one.scopes || every.scopes) ORDER BY 1) END AS scopes,
         CASE WHEN one.grant_id IS NULL THEN every.expires_at ELSE one.expires_at END AS expires_at,
         coalesce(one.created_at, every.created_at) AS created_at, NULL::timestamptz AS revoked_at,
         CASE WHEN one.grant_id IS NULL THEN every.granted_by ELSE one.granted_by END AS granted_by,
         CASE WHEN one.grant_id IS NULL THEN every.purpose ELSE one.purpose END AS purpose,
         CASE WHEN one.grant_id IS NULL THEN every.accepted_at ELSE one.accepted_at END AS accepted_at,
         ARRAY[o.tenant_id, s.subject_type, s.subject_id${listed.further}]::text[] AS position, s.subject_type, s.name
    FROM owners o
   CROSS JOIN caller c
   CROSS JOIN LATERAL (SELECT * FROM grants g WHERE ${isAcceptedGrantToAll('o.tenant_id', 'c.tenant_id')}${listed.grants} LIMIT 1) every
   CROSS JOIN LATERAL (${listed.subjects}) s
    LEFT JOIN LATERAL (SELECT * FROM grants g WHERE ${isLiveGrant('c.tenant_id', 's.subject_key')} LIMIT 1) one ON true
   WHERE o.place <= ${LOOKED_AT} AND (c.owner_tenant_id IS NULL OR o.tenant_id = c.owner_tenant_id)
   LIMIT :rows - (SELECT count(*) FROM single)
), found AS MATERIALIZED (
  SELECT single.*, 1 AS part, row_number() OVER (ORDER BY subject_key) AS place FROM single
   UNION ALL
  SELECT ${GRANT_COLUMNS}, position, 2, row_number() OVER (ORDER BY ${listed.order}) FROM of_all
)
SELECT ${FACTS},
  ${columns(grantColumns(), 'item?.grant')},
  s.subject_key::float8 AS "item?.subjectKey", ${shown} AS "item?.name",
  ${columns(snapshotColumns(), 'item?.latest?')},
  g.position,
       CASE WHEN EXISTS (SELECT FROM ended) THEN (SELECT ARRAY[grant_id::text] FROM ended)
            WHEN (SELECT count(*) FROM found) < :rows::int
            THEN (SELECT ARRAY[o.tenant_id, '', ''] FROM owners o WHERE o.place > ${LOOKED_AT} AND o.tenant_id IS NOT NULL)
            END AS ended
  FROM caller f
  LEFT JOIN found g ON true
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
  ${latestSnapshot(`CASE WHEN g.scopes && '{${RULES.readLatest.subject.join()}}' THEN s.subject_key END`, 'n')}
 ORDER BY g.part, g.place`,
  );

const NO_SUBJECT = '(SELECT NULL::bigint AS subject_key, NULL::text AS owner_tenant_id)';

/** Returns `given` if owner `o` is the one at which the page starts, else `other`. */
const atPlace = (given: string, other: string): string =>
  `CASE o.tenant_id WHEN :fromOwner::text THEN ${given} ELSE ${other} END`;

const ACCESSIBLE = accessible('subjects_accessible', {
  live: 'live',
  one: '',
  grants: '',
  subjects: `
     SELECT * FROM subjects s
      WHERE (s.owner_tenant_id, s.subject_type, s.subject_id)
            > (o.tenant_id, ${atPlace(':afterType::text', "''")}, ${atPlace(':afterId::text', "''")})
        AND s.owner_tenant_id <= o.tenant_id
      ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT :rows
   `,
  order: 'position',
  further: '',
});

/** The same for subjects of some types, for ids with a prefix, for one grantor, or for one subject. */
const ACCESSIBLE_FILTERED = accessible<
  Omit<AccessibleFilter, 'subjectType'> & { types: readonly string[]; subjectType: string | null }
>('subjects_accessible_filtered', {
  live: 'live',
  one: `
     AND (:grantorTenantId::text IS NULL OR one.grantor_tenant_id = :grantorTenantId::text)
     AND (SELECT s.subject_type = ANY (:types::text[]) AND starts_with(s.subject_id, :prefix::text)
            FROM subjects s WHERE s.subject_key = one.subject_key LIMIT 1)`,
  grants: '',
  subjects: `
     SELECT s.* FROM unnest(:types::text[]) AS range(subject_type)
      CROSS JOIN LATERAL (
        SELECT * FROM subjects s
         WHERE (s.owner_tenant_id, s.subject_type, s.subject_id)
               >= (o.tenant_id, range.subject_type, greatest(:prefix::text COLLATE "C", ${atPlace(
                 `CASE range.subject_type WHEN :afterType::text THEN :afterId::text ELSE '' END`,
                 "''",
               )} COLLATE "C"))
           AND (s.owner_tenant_id, s.subject_type) <= (o.tenant_id, range.subject_type)
           AND s.subject_id <> ${atPlace(`CASE range.subject_type WHEN :afterType::text THEN :afterId::text ELSE '' END`, "''")}
         ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT :rows
      ) s
      WHERE range.subject_type >= ${atPlace(':afterType::text', "''")} AND starts_with(s.subject_id, :prefix::text)
        AND (:subjectId::text IS NULL OR s.subject_id = :subjectId::text)
        AND (:grantorTenantId::text IS NULL OR s.owner_tenant_id = :grantorTenantId::text)
      ORDER BY s.subject_type, s.subject_id LIMIT :rows
   `,
  order: 'position',
  further: '',
  named: {
    // An unknown subject gets the key 0, which no grant on one subject has, and an owner id that no tenant has.
    subject: `(SELECT CASE WHEN :subjectId::text IS NOT NULL THEN coalesce(s.subject_key, 0) END AS subject_key,
                         CASE WHEN :subjectId::text IS NOT NULL THEN coalesce(s.owner_tenant_id, '') END AS owner_tenant_id
                    FROM (SELECT true) one
                    LEFT JOIN subjects s ON s.subject_type = :subjectType::text AND s.subject_id = :subjectId::text)`,
    grantor: ':grantorTenantId::text',
  },
});

const READS_LATEST = `scopes && '{${RULES.readLatest.subject.join()}}'`;
/** Selects the key of the subject `afterType`, `afterId`. */
const AFTER_KEY = `(SELECT l.subject_key FROM subjects l
                   WHERE l.subject_type = :afterType::text AND l.subject_id = :afterId::text LIMIT 1)`;

/**
 * Returns the parts of a search by content, which must reveal nothing that the caller may not read. Only grants with
 * `read_latest` lead to a subject; the scopes of its other grants are added. The search starts from the grants, so neither the
 * answer nor the page boundary nor the response time depends on other subjects. `isFound` is a condition on a grant `one`.
 */
const searched = (isFound: string) => ({
  live: `(
    SELECT l.grant_id, l.grantor_tenant_id, l.grantee_tenant_id, l.subject_key,
           CASE WHEN every.scopes IS NULL THEN l.scopes
                ELSE ARRAY(SELECT DISTINCT unnest(l.scopes || every.scopes) ORDER BY 1) END AS scopes,
           l.expires_at, l.created_at, l.revoked_at, l.granted_by, l.purpose, l.accepted_at
      FROM live l
      LEFT JOIN LATERAL (SELECT * FROM grants g
                          WHERE ${isAcceptedGrantToAll('l.grantor_tenant_id', 'l.grantee_tenant_id')} LIMIT 1) every ON true
     WHERE l.${READS_LATEST}
  )`,
  one: `
     AND ${isFound}`,
  grants: ` AND g.${READS_LATEST}`,
  name: 's.display_name',
});

const ACCESSIBLE_BY_IDENTIFIER = accessible<Identifier>('subjects_accessible_by_identifier', {
  ...searched(`(SELECT d.value FROM subject_identifiers d
           WHERE (d.subject_key, d.scheme) BETWEEN (one.subject_key, :scheme) AND (one.subject_key, :scheme) LIMIT 1) = :value`),
  subjects: `
     SELECT s.* FROM (
       SELECT * FROM subject_identifiers d
        WHERE (d.owner_tenant_id, d.scheme, d.value, d.subject_type, -d.subject_key)
                > (o.tenant_id, :scheme, :value, ${atPlace(':afterType::text', "''")},
                   coalesce(-${AFTER_KEY}, -9223372036854775807))
          AND (d.owner_tenant_id, d.scheme, d.value) <= (o.tenant_id, :scheme, :value)
        ORDER BY d.owner_tenant_id, d.scheme, d.value, d.subject_type, -d.subject_key LIMIT :rows
     ) d
     CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = d.subject_key LIMIT 1) s
   `,
  order: 'grantor_tenant_id, subject_type, -subject_key',
  further: '',
});

/** Searches the names from `prefix` to `upTo`. An owner with no such name costs at most one row per type. */
const ACCESSIBLE_BY_NAME = accessible<{ prefix: string; upTo: string; afterName: string | number }>(
  'subjects_accessible_by_name',
  {
    ...searched(`(SELECT starts_with(s.name, :prefix) FROM subjects s WHERE s.subject_key = one.subject_key LIMIT 1)`),
    subjects: `
     SELECT s.* FROM unnest('{${[...SUBJECT_TYPES].sort().join()}}'::text[]) AS range(subject_type)
      CROSS JOIN LATERAL (
        SELECT * FROM subjects s
         WHERE (s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key)
                 > (o.tenant_id || '/', range.subject_type,
                    CASE WHEN o.tenant_id = :fromOwner::text AND range.subject_type = :afterType::text
                         THEN :afterName::text ELSE :prefix::text END COLLATE "C",
                    CASE WHEN o.tenant_id = :fromOwner::text AND range.subject_type = :afterType::text
                         THEN ${AFTER_KEY} ELSE 0 END)
           AND (s.owner_tenant_id || '/', s.subject_type, s.name) <= (o.tenant_id || '/', range.subject_type, :upTo::text)
           AND s.name IS NOT NULL
         ORDER BY s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key LIMIT :rows
      ) s
      WHERE range.subject_type >= ${atPlace(':afterType::text', "''")}
      ORDER BY s.subject_type, s.name, s.subject_key LIMIT :rows
   `,
    order: 'grantor_tenant_id, subject_type, name, subject_key',
    further: ', s.name',
  },
);

/** Subjects of other tenants that a tenant may read. */
export class AccessibleSubjectStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Returns a page of the subjects that the tenant may read by a live grant, and the caller's access facts. Subjects of grants on
   * one subject come first, by creation. Only an active member with the counterparty flag gets any. A search by content only
   * finds subjects whose latest version the tenant may read.
   */
  async list(
    actor: Actor,
    { limit, after }: PageRequest,
    search: ContentSearch | AccessibleFilter | null = null,
  ): Promise<{ facts: AccessFacts; page: Page<AccessibleSubject> }> {
    const place = { ...actor, ...afterAccessible(after), rows: limit + 1 };
    const rows = await this.rowsOf(search, place, after?.[3] ?? '');
    const { facts, page } = toList(rows, limit);
    return { facts, page: { ...page, next: page.next ?? rows[0]?.ended ?? null } };
  }

  private rowsOf(
    search: ContentSearch | AccessibleFilter | null,
    place: Actor & AfterAccessible & { rows: number },
    afterName: string | number,
  ) {
    if (search === null) return this.sql.run(ACCESSIBLE, place);
    if (!('by' in search)) {
      const { subjectType, subjectId, prefix, grantorTenantId } = search;
      const types = subjectType === null ? [...SUBJECT_TYPES].sort() : [subjectType];
      const filter = { types, subjectType, subjectId, prefix: subjectId ?? prefix, grantorTenantId };
      return this.sql.run(ACCESSIBLE_FILTERED, { ...place, ...filter });
    }
    switch (search.by) {
      case 'identifier':
        return this.sql.run(ACCESSIBLE_BY_IDENTIFIER, { ...place, ...search.identifier });
      case 'name': {
        const { prefix } = search;
        return this.sql.run(ACCESSIBLE_BY_NAME, { ...place, prefix, upTo: prefix + LAST.repeat(MAX_NAME), afterName });
      }
    }
  }
}

/** The last character in the collation order. */
const LAST = '\u{10ffff}';

/** Parses a position. It names a grant on one subject, or an owner of all its subjects and the last of them. */
function afterAccessible(after: PagePosition | null): AfterAccessible {
  const [first = null, afterType, afterId] = after ?? [];
  return afterType === undefined || afterId === undefined
    ? { afterGrantId: first, fromOwner: null, afterType: '', afterId: '' }
    : { afterGrantId: null, fromOwner: first, afterType, afterId };
}
