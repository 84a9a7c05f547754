import type { AccessFacts, Actor, Scope, SubjectRef } from '@iss/domain';
import { type Before, before, type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/**
 * A period in which a tenant could read a subject by a grant on it or on `ALL_SUBJECTS`. It starts when the grant was made or
 * changed, or later by the grant's own start, and lasts until the grant was changed or ended. The log has entries for these.
 */
export interface AccessPeriod extends SubjectRef {
  grantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  paths: readonly string[] | null;
  from: Date;
  /** When it ended or will end; null for a live grant without an expiry. */
  until: Date | null;
  /** Null while it is live. */
  endedBy: 'revoked' | 'expired' | 'replaced' | null;
  /** The place of the log entry for its start; null until there is one. */
  grantedIndex: number | null;
  /** The place of the log entry for its end; null while it is live, if it expired, and until there is one. */
  endedIndex: number | null;
}

/** A change of a tenant's owner. */
export interface OwnerChange {
  principalId: string | null;
  fromPrincipalId: string | null;
  changedAt: Date;
  /** The place of its log entry; null until there is one. */
  logIndex: number | null;
}

const ACCESS_HISTORY = statement<Actor & SubjectRef & Before, ListRow<AccessFacts, AccessPeriod>>('access_history');

const OWNER_HISTORY = statement<Actor & { before: string | number; rows: number }, ListRow<AccessFacts, OwnerChange>>(
  'owner_history',
);

/** A number that is larger than any id of a change. */
const NEWEST = String(2n ** 62n);

/** The past of a subject's readers and of a tenant's owners, with places in the log. */
export class HistoryStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Returns the periods in which others could read a subject, newest first, and the caller's access facts. Only its owner gets
   * any.
   */
  async access(
    actor: Actor,
    subject: SubjectRef,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<AccessPeriod> }> {
    return toList(await this.sql.run(ACCESS_HISTORY, { ...actor, ...subject, ...before(request) }), request.limit);
  }

  /** Returns the changes of the tenant's owner, newest first, and the caller's access facts. Only a member gets any. */
  async owners(actor: Actor, { limit, after }: PageRequest): Promise<{ facts: AccessFacts; page: Page<OwnerChange> }> {
    const [position = NEWEST] = after ?? [];
    return toList(await this.sql.run(OWNER_HISTORY, { ...actor, before: position, rows: limit + 1 }), limit);
  }
}
