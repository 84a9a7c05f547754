import type { AccessFacts, Actor, GrantStatus, Role, Scope, SubjectRef } from '@iss/domain';
import { type Page, type PageRequest, type Position, toPage } from '../../sql/page';
import { type Sql, statement } from '../../sql/sql';
import {
  ACCESS_COLUMNS,
  type AccessFactsRow,
  isLiveGrant,
  LIVE_GRANT,
  TENANT_ACCESS,
  toAccessFacts,
} from '../facts/access-facts';
import { latestSnapshot, NAMED_SUBJECT } from '../facts/joins';
import { MEMBER_ACCESS } from '../tenancy/memberships';
import {
  SNAPSHOT_HEADER_COLUMNS,
  type SnapshotRecord,
  type SnapshotRow,
  toSnapshotRecord,
} from '../snapshots/snapshot-row';

/** A grant with its status by the clock of the moment it was read. */
export interface GrantRecord extends SubjectRef {
  grantId: string;
  grantorTenantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  expiresAt: Date | null;
  createdAt: Date;
  revokedAt: Date | null;
  status: GrantStatus;
}

export interface GrantToCreate extends SubjectRef {
  grantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  expiresAt: Date | null;
}

export type GrantOutcome =
  { kind: 'granted'; grant: GrantRecord } | { kind: 'refused'; facts: AccessFacts; granteeExists: boolean };

/** A subject that a tenant may read by a live grant. `latest`, without its envelope, is null unless a scope covers it. */
export interface AccessibleSubject {
  grant: GrantRecord;
  latest: SnapshotRecord | null;
}

interface GrantRow {
  grant_id: string;
  grantor_tenant_id: string;
  grantee_tenant_id: string;
  subject_type: string;
  subject_id: string;
  scopes: Scope[];
  expires_at: Date | null;
  granted_at: Date;
  /** The same as text, since a `Date` has no microseconds. */
  position: string;
  revoked_at: Date | null;
  status: GrantStatus;
}
type MaybeGrantRow = { [Column in keyof GrantRow]: GrantRow[Column] | null };

const GRANT_COLUMNS = `g.grant_id, g.grantor_tenant_id, g.grantee_tenant_id, s.subject_type, s.subject_id, g.scopes,
  g.expires_at, g.created_at AS granted_at, g.created_at::text AS position, g.revoked_at,
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
       WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS status`;

const IDENTITY = `(SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}`;

/** Grants of one subject to one tenant are made one after the other: "live" depends on the clock, which no index can hold. */
const LOCK_PAIR = statement(
  'grant_lock_pair',
  `SELECT pg_advisory_xact_lock(hashtextextended($1::text || '/' || $2::text || '/' || $3::text, 0))`,
);

const CREATE = statement<AccessFactsRow & { created_at: Date | null; grantee_exists: boolean }>(
  'grant_create',
  `WITH facts AS MATERIALIZED (
  SELECT i.tenant_id, ${ACCESS_COLUMNS}, s.subject_key,
         EXISTS (SELECT FROM tenants t WHERE t.tenant_id = $6) AS grantee_exists
    FROM ${IDENTITY}
),
made AS (
  INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at)
  SELECT $5::uuid, tenant_id, $6::text, subject_key, $7::text[], $8::timestamptz
    FROM facts
   WHERE member_status = 'active' AND role = ANY ($9) AND owns_subject AND grantee_exists
     AND (SELECT true FROM grants g WHERE ${isLiveGrant('$6', 'facts.subject_key')} LIMIT 1) IS NULL
  RETURNING created_at
)
SELECT ${ACCESS_COLUMNS}, f.grantee_exists, made.created_at FROM facts f LEFT JOIN made ON true`,
);

/**
 * The row lock lets one of many revoke; the others see then that the grant is live no more. IS TRUE, so that the index of
 * all live grants cannot find it.
 */
const REVOKE = statement<AccessFactsRow & MaybeGrantRow & { revoked_now_at: Date | null }>(
  'grant_revoke',
  `WITH found AS MATERIALIZED (
  SELECT ${ACCESS_COLUMNS}, ${GRANT_COLUMNS}
    FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::uuid AS grant_id) i
    LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
      ON g.grantor_tenant_id = i.tenant_id
    LEFT JOIN subjects s ON s.subject_key = g.subject_key
    ${TENANT_ACCESS}
),
revoked AS (
  UPDATE grants g SET revoked_at = now()
   WHERE g.grant_id = (SELECT grant_id FROM found
                        WHERE member_status = 'active' AND role = ANY ($4) AND owns_subject)
     AND (${LIVE_GRANT}) IS TRUE
  RETURNING g.revoked_at
)
SELECT f.*, r.revoked_at AS revoked_now_at FROM found f LEFT JOIN revoked r ON true`,
);

type ListRow = AccessFactsRow & MaybeGrantRow;

/** A page of grants `g`, newest first. */
const pageOf = (whose: string): string => `
  LEFT JOIN LATERAL (
    SELECT * FROM grants g
     WHERE ${whose} AND (g.created_at, g.grant_id) < ($3::timestamptz, $4::uuid)
     ORDER BY g.created_at DESC, g.grant_id DESC LIMIT $5
  ) g ON true`;
const NEWEST_FIRST = 'ORDER BY g.created_at DESC, g.grant_id DESC';

const OF_TENANT = statement<ListRow>(
  'grants_of_tenant',
  `SELECT ${ACCESS_COLUMNS}, ${GRANT_COLUMNS}
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
  ${MEMBER_ACCESS}
  ${pageOf(`g.grantor_tenant_id = i.tenant_id AND f.member_status = 'active'`)}
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
 ${NEWEST_FIRST}`,
);

const OF_SUBJECT = statement<ListRow>(
  'grants_of_subject',
  `SELECT ${ACCESS_COLUMNS}, ${GRANT_COLUMNS}
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $6::text AS subject_type, $7::text AS subject_id) i
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}
  ${pageOf('g.subject_key = s.subject_key AND f.owns_subject')}
 ${NEWEST_FIRST}`,
);

/** Before the newest grant. */
const START: Position = ['infinity', '00000000-0000-0000-0000-000000000000'];

/**
 * By subject key, which the index of live grants holds; it numbers the subjects of all tenants, so that a position names
 * the grant last shown instead.
 */
const ACCESSIBLE = statement<AccessFactsRow & MaybeGrantRow & SnapshotRow>(
  'subjects_accessible',
  `SELECT ${ACCESS_COLUMNS}, ${GRANT_COLUMNS}, ${SNAPSHOT_HEADER_COLUMNS}, NULL::text AS envelope
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id,
               coalesce((SELECT last.subject_key FROM grants last
                          WHERE last.grant_id = $3::uuid AND last.grantee_tenant_id = $1), 0) AS after) i
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (
    SELECT * FROM grants g
     WHERE (g.grantee_tenant_id, g.subject_key) > (i.tenant_id, i.after) AND g.grantee_tenant_id <= i.tenant_id
       AND f.member_status = 'active' AND f.allow_counterparty_access AND ${LIVE_GRANT}
     ORDER BY g.grantee_tenant_id, g.subject_key LIMIT $4
  ) g ON true
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
  ${latestSnapshot(`CASE WHEN 'read_latest' = ANY (g.scopes) THEN s.subject_key END`, 'n')}
 ORDER BY g.subject_key`,
);

/** Grants: who besides the owner may read a subject, what of it, and until when. */
export class GrantStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Makes a grant if the caller holds one of `managers` in the owner, the grantee exists, and no live grant stands for
   * the pair (specification, "Grants").
   */
  async create(actor: Actor, grant: GrantToCreate, managers: readonly Role[]): Promise<GrantOutcome> {
    return this.sql.transaction(async (sql) => {
      await sql.run(LOCK_PAIR, [grant.granteeTenantId, grant.subjectType, grant.subjectId]);
      const row = theRow(
        await sql.run(CREATE, [
          actor.tenantId,
          actor.principalId,
          grant.subjectType,
          grant.subjectId,
          grant.grantId,
          grant.granteeTenantId,
          grant.scopes,
          grant.expiresAt,
          managers,
        ]),
      );
      if (row.created_at === null) {
        return { kind: 'refused', facts: toAccessFacts(row), granteeExists: row.grantee_exists };
      }
      const { tenantId: grantorTenantId } = actor;
      const made = { grantorTenantId, createdAt: row.created_at, revokedAt: null, status: 'active' } as const;
      return { kind: 'granted', grant: { ...grant, ...made } };
    });
  }

  /**
   * Ends a grant of the tenant that is live, if the caller holds one of `managers`; from then on no read sees it.
   * `grant` is null where the tenant has none with this id, else as it was found, or as it became when it `isRevoked`
   * by this call.
   */
  async revoke(
    actor: Actor,
    grantId: string,
    managers: readonly Role[],
  ): Promise<{ facts: AccessFacts; grant: GrantRecord | null; isRevoked: boolean }> {
    const row = theRow(await this.sql.run(REVOKE, [actor.tenantId, actor.principalId, grantId, managers]));
    const facts = toAccessFacts(row);
    if (!isGrantRow(row)) return { facts, grant: null, isRevoked: false };
    if (row.revoked_now_at === null) return { facts, grant: toGrant(row), isRevoked: false };
    return { facts, grant: { ...toGrant(row), status: 'revoked', revokedAt: row.revoked_now_at }, isRevoked: true };
  }

  /** A page of all that the tenant granted, newest first, and what the caller may do. Only an active member gets any. */
  async ofTenant(
    { tenantId, principalId }: Actor,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<GrantRecord> }> {
    const rows = await this.sql.run(OF_TENANT, [tenantId, principalId, ...(after ?? START), limit + 1]);
    return { facts: toAccessFacts(theRow(rows)), page: toGrantPage(rows, limit) };
  }

  /** A page of all grants on a subject, newest first, and what the caller may do. Only its owner gets any. */
  async ofSubject(
    { tenantId, principalId }: Actor,
    { subjectType, subjectId }: SubjectRef,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<GrantRecord> }> {
    const values = [tenantId, principalId, ...(after ?? START), limit + 1, subjectType, subjectId];
    const rows = await this.sql.run(OF_SUBJECT, values);
    return { facts: toAccessFacts(theRow(rows)), page: toGrantPage(rows, limit) };
  }

  /**
   * A page of the subjects that the tenant may read by a live grant, in the order in which they came to be; and what the
   * caller may do. Only an active member whose counterparty flag is on gets any.
   */
  async accessible(
    { tenantId, principalId }: Actor,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<AccessibleSubject> }> {
    const rows = await this.sql.run(ACCESSIBLE, [tenantId, principalId, after?.[0] ?? null, limit + 1]);
    const page = toPage(
      rows.filter(isGrantRow),
      limit,
      (row): AccessibleSubject => ({ grant: toGrant(row), latest: toSnapshotRecord(row) }),
      (row) => [row.grant_id],
    );
    return { facts: toAccessFacts(theRow(rows)), page };
  }
}

/** The row that holds the facts: these statements answer one at least. */
function theRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('a statement about grants answered no row');
  return row;
}

function toGrantPage(rows: readonly ListRow[], limit: number): Page<GrantRecord> {
  return toPage(rows.filter(isGrantRow), limit, toGrant, (row) => [row.position, row.grant_id]);
}

function isGrantRow<Row extends MaybeGrantRow>(row: Row): row is Row & GrantRow {
  return row.grant_id !== null;
}

function toGrant(row: GrantRow): GrantRecord {
  return {
    grantId: row.grant_id,
    grantorTenantId: row.grantor_tenant_id,
    granteeTenantId: row.grantee_tenant_id,
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    scopes: row.scopes,
    expiresAt: row.expires_at,
    createdAt: row.granted_at,
    revokedAt: row.revoked_at,
    status: row.status,
  };
}
