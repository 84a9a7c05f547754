import type { AccessFacts, Actor, AuditAction, SubjectRef } from '@iss/domain';
import { type Columns, columns } from '../../sql/columns';
import { ACTOR, inputRow, SUBJECT } from '../../sql/input';
import { fitting, type Page, type PageRequest, rowBytes } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, MEMBER_ACCESS } from '../facts/access-facts';
import {
  namedKey,
  type NamedKey,
  newestRecords,
  type RecordPage,
  recordPage,
  type RecordRow,
  type TimeBounds,
  toRecords,
} from './record-page';

/** The old and the new value of a changed member; null if there was or is none. */
export interface AuditedChange {
  before: unknown;
  after: unknown;
}

/** A recorded change in a tenant. */
export interface AuditRecord {
  auditId: number;
  at: Date;
  action: AuditAction;
  /** Null for the service itself or its operator. */
  principalId: string | null;
  requestId: string | null;
  /** The ids of the changed object, by name. */
  target: Readonly<Record<string, string>>;
  details: Readonly<Record<string, AuditedChange>>;
}

/** Selects records; a null member selects all. */
export interface AuditFilter extends TimeBounds {
  action: AuditAction | null;
  byPrincipalId: string | null;
  /** The id of the changed object itself, such as a grant; for subjects, see `subject`. */
  targetId: string | null;
  /** The subject of the changed grant or erasure. */
  subject: SubjectRef | null;
}

/** The columns of the audit record `a`. */
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
const IS_SUBJECT = `a.target ->> 'subject_type' = i.subject_type AND a.target ->> 'subject_id' = i.subject_id`;
const WANTED = `(i.action IS NULL OR a.action = i.action) AND (i.by_principal_id IS NULL OR a.principal_id = i.by_principal_id)
       AND (i.subject_type IS NULL OR ${IS_SUBJECT})`;

const list = (name: string, scope: string) => {
  const listed = `a.tenant_id${scope} AND f.member_status = 'active'`;
  return statement<Actor & RecordPage & NamedKey & Omit<AuditFilter, 'subject'>, RecordRow<AccessFacts, AuditRecord>>(
    name,
    `SELECT ${FACTS},
  ${columns(RECORD, 'item?')},
  ${LIST.position(listed)}, a.found
  FROM ${inputRow({ ...ACTOR, ...SUBJECT, action: 'text', by_principal_id: 'text', target_id: 'text' })}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL ${fitting('a', `SELECT * FROM ${LIST.page(listed, WANTED)} a`, rowBytes('a'), LIST.order)} a ON true
 ${LIST.order}`,
  );
};

/** An expression keeps the other lists off the indexes of ids and of subjects. */
const LISTS = {
  all: list('audit_of_tenant', ' = i.tenant_id'),
  target: list('audit_of_target', ` || '/' = i.tenant_id || '/' AND audit_target_id(a.target) = i.target_id`),
  subject: list('audit_of_subject', ` || '/' = i.tenant_id || '/' AND ${IS_SUBJECT}`),
};

/** The audit trail. Triggers write it (`migrations/24-audit-trail.sql`). */
export class AuditStore {
  constructor(private readonly sql: Sql) {}

  /** Returns the changes in the tenant, newest first, and the caller's access facts. Only an active member gets any. */
  async ofTenant(
    actor: Actor,
    filter: AuditFilter,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<AuditRecord> }> {
    const scope = filter.targetId !== null ? 'target' : filter.subject !== null ? 'subject' : 'all';
    const parameters = { ...actor, ...filter, ...namedKey(filter.subject), ...recordPage(filter, request) };
    const rows = await this.sql.run(LISTS[scope], parameters);
    return toRecords(rows, request.limit);
  }
}
