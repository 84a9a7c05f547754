import type { AccessFacts, Actor, AuditAction } from '@iss/domain';
import { type Columns, columns } from '../../sql/columns';
import { ACTOR, inputRow } from '../../sql/input';
import type { Page, PageRequest } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, MEMBER_ACCESS } from '../facts/access-facts';
import { newestRecords, type RecordPage, recordPage, type RecordRow, type TimeBounds, toRecords } from './record-page';

/** A member of what was changed, as it was and as it became; null where there was, or is, none. */
export interface AuditedChange {
  before: unknown;
  after: unknown;
}

/** One thing that was changed in a tenant. */
export interface AuditRecord {
  auditId: number;
  at: Date;
  action: AuditAction;
  /** Null: the service itself, or its operator. */
  principalId: string | null;
  requestId: string | null;
  /** The ids of what was changed, by their names. */
  target: Readonly<Record<string, string>>;
  details: Readonly<Record<string, AuditedChange>>;
}

/** Which records are asked for; null: any. */
export interface AuditFilter extends TimeBounds {
  action: AuditAction | null;
  byPrincipalId: string | null;
}

/** Columns of the audit record `a`. */
const RECORD: Columns<AuditRecord> = {
  auditId: 'a.audit_id::float8',
  at: 'a.at',
  action: 'a.action',
  principalId: 'a.principal_id',
  requestId: 'a.request_id',
  target: 'a.target',
  details: 'a.details',
};

const LIST = newestRecords('audit_records', 'a', 'at', 'audit_id');
const OF_IT = `a.tenant_id = i.tenant_id AND f.member_status = 'active'`;
const WANTED = `(i.action IS NULL OR a.action = i.action) AND (i.by_principal_id IS NULL OR a.principal_id = i.by_principal_id)`;

const OF_TENANT = statement<
  Actor & RecordPage & Pick<AuditFilter, 'action' | 'byPrincipalId'>,
  RecordRow<AccessFacts, AuditRecord>
>(
  'audit_of_tenant',
  `SELECT ${FACTS},
  ${columns(RECORD, 'item?')},
  ${LIST.position(OF_IT)}
  FROM ${inputRow({ ...ACTOR, action: 'text', by_principal_id: 'text' })}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL ${LIST.page(OF_IT, WANTED)} a ON true
 ${LIST.order}`,
);

/** The audit trail, which triggers write (`migrations/24-audit-trail.sql`). */
export class AuditStore {
  constructor(private readonly sql: Sql) {}

  /** What was changed in the tenant, newest first, and what the caller may do. Only an active member gets any. */
  async ofTenant(
    actor: Actor,
    filter: AuditFilter,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<AuditRecord> }> {
    const rows = await this.sql.run(OF_TENANT, { ...actor, ...filter, ...recordPage(filter, request) });
    return toRecords(rows, request.limit);
  }
}
