import type { AccessFacts, Actor, AuditAction, SubjectRef } from '@iss/domain';
import { type Page, type PageRequest } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import {
  namedKey,
  type NamedKey,
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

const list = (name: string) =>
  statement<Actor & RecordPage & NamedKey & Omit<AuditFilter, 'subject'>, RecordRow<AccessFacts, AuditRecord>>(name);

const LISTS = { all: list('audit_of_tenant'), target: list('audit_of_target'), subject: list('audit_of_subject') };

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
