import type { AccessFacts, Scope } from '@iss/domain';
import { type Sql, statement } from '../sql';
import { ACCESS_COLUMNS, type AccessFactsRow, LIVE_GRANT, TENANT_ACCESS, toAccessFacts } from './access-facts';
import type { Reader, SubjectRef } from './snapshot-read.store';

export const GRANT_STATUSES = ['active', 'revoked', 'expired'] as const;
export type GrantStatus = (typeof GRANT_STATUSES)[number];

/** A grant with its status by the clock of the moment it was read. */
export interface GrantRecord extends SubjectRef {
  grantId: string;
  grantorTenantId: string;
  granteeTenantId: string;
  scopes: Scope[];
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

interface GrantRow {
  grant_id: string;
  grantor_tenant_id: string;
  grantee_tenant_id: string;
  subject_type: string;
  subject_id: string;
  scopes: Scope[];
  expires_at: Date | null;
  created_at: Date;
  revoked_at: Date | null;
  status: GrantStatus;
}

const GRANT_COLUMNS = `g.grant_id, g.grantor_tenant_id, g.grantee_tenant_id, s.subject_type, s.subject_id, g.scopes,
  g.expires_at, g.created_at, g.revoked_at,
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
       WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS status`;

const IDENTITY = `(SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
  LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
  ${TENANT_ACCESS}`;

/** Grants of one subject to one tenant are made one after the other: "live" depends on the clock, which no index can hold. */
const LOCK_PAIR = statement(
  'grant_lock_pair',
  `SELECT pg_advisory_xact_lock(hashtextextended($1::text || '/' || $2::text || '/' || $3::text, 0))`,
);

const CREATE = statement<AccessFactsRow & { grant_id: string | null; grantee_exists: boolean }>(
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
     AND NOT EXISTS (SELECT FROM grants g
                      WHERE g.grantee_tenant_id = $6 AND g.subject_key = facts.subject_key AND ${LIVE_GRANT})
  RETURNING grant_id
)
SELECT ${ACCESS_COLUMNS}, f.grantee_exists, made.grant_id FROM facts f LEFT JOIN made ON true`,
);

type FoundRow = AccessFactsRow & { [Column in keyof GrantRow]: GrantRow[Column] | null };

const FIND = statement<FoundRow>(
  'grant_find',
  `SELECT ${ACCESS_COLUMNS}, ${GRANT_COLUMNS}
     FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::uuid AS grant_id) i
     LEFT JOIN grants g ON g.grant_id = i.grant_id AND g.grantor_tenant_id = i.tenant_id
     LEFT JOIN subjects s ON s.subject_key = g.subject_key
     ${TENANT_ACCESS}`,
);

const REVOKE = statement<{ grant_id: string }>(
  'grant_revoke',
  `UPDATE grants g SET revoked_at = now() WHERE g.grant_id = $1 AND g.grantor_tenant_id = $2 AND ${LIVE_GRANT}
  RETURNING grant_id`,
);

const OF_SUBJECT = statement<FoundRow>(
  'grants_of_subject',
  `SELECT ${ACCESS_COLUMNS}, ${GRANT_COLUMNS}
     FROM ${IDENTITY}
     LEFT JOIN grants g ON g.subject_key = s.subject_key
    ORDER BY g.created_at DESC, g.grant_id DESC`,
);

/** Grants: who besides the owner may read a subject, what of it, and until when. */
export class GrantStore {
  constructor(private readonly sql: Sql) {}

  /** Makes a grant unless a rule forbids it or a live one exists for the pair; `admins` are the roles that may. */
  async create(owner: Reader, grant: GrantToCreate, admins: readonly string[]): Promise<GrantOutcome> {
    return this.sql.transaction(async (sql) => {
      await sql.run(LOCK_PAIR, [grant.granteeTenantId, grant.subjectType, grant.subjectId]);
      const [row] = await sql.run(CREATE, [
        owner.tenantId,
        owner.principalId,
        grant.subjectType,
        grant.subjectId,
        grant.grantId,
        grant.granteeTenantId,
        grant.scopes,
        grant.expiresAt,
        admins,
      ]);
      if (row === undefined) throw new Error('grant_create answered no row');
      if (row.grant_id === null) {
        return { kind: 'refused', facts: toAccessFacts(row), granteeExists: row.grantee_exists };
      }
      const [made] = await sql.run(FIND, [owner.tenantId, owner.principalId, row.grant_id]);
      if (made === undefined || !isGrantRow(made)) throw new Error('a grant is gone that was just made');
      return { kind: 'granted', grant: toGrant(made) };
    });
  }

  /** The tenant's own grant with this id, or null; and whether the caller may manage it. */
  async find(owner: Reader, grantId: string): Promise<{ facts: AccessFacts; grant: GrantRecord | null }> {
    const [row] = await this.sql.run(FIND, [owner.tenantId, owner.principalId, grantId]);
    if (row === undefined) throw new Error('grant_find answered no row');
    return { facts: toAccessFacts(row), grant: isGrantRow(row) ? toGrant(row) : null };
  }

  /** Ends a live grant; false when it was not live. From then on no read sees it. */
  async revoke(tenantId: string, grantId: string): Promise<boolean> {
    return (await this.sql.run(REVOKE, [grantId, tenantId])).length > 0;
  }

  /** Every grant on a subject, newest first, and whether the caller may see them. */
  async ofSubject(owner: Reader, subject: SubjectRef): Promise<{ facts: AccessFacts; grants: GrantRecord[] }> {
    const rows = await this.sql.run(OF_SUBJECT, [
      owner.tenantId,
      owner.principalId,
      subject.subjectType,
      subject.subjectId,
    ]);
    const [first] = rows;
    if (first === undefined) throw new Error('grants_of_subject answered no row');
    return { facts: toAccessFacts(first), grants: rows.filter(isGrantRow).map(toGrant) };
  }
}

function isGrantRow(row: FoundRow): row is AccessFactsRow & GrantRow {
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
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    status: row.status,
  };
}
