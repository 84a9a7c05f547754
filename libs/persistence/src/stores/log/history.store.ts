import type { AccessFacts, Actor, Scope, SubjectRef } from '@iss/domain';
import { type Columns, columns } from '../../sql/columns';
import { ACTOR, inputRow, SUBJECT } from '../../sql/input';
import { type Before, before, type ListRow, newestFirst, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, MEMBER_ACCESS, TENANT_ACCESS } from '../facts/access-facts';
import { NAMED_SUBJECT } from '../facts/joins';

/** How long a tenant could read a subject, and where in the log that stands. */
export interface AccessPeriod {
  grantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  from: Date;
  /** When it ended, or will end; null where it has no end. */
  until: Date | null;
  /** Null while it lives. */
  endedBy: 'revoked' | 'expired' | null;
  /** Null until it is in the log. */
  grantedIndex: number | null;
  /** Null while it lives, where it expired, and until the revocation is in the log. */
  endedIndex: number | null;
}

/** A change of who owns a tenant. */
export interface OwnerChange {
  principalId: string | null;
  fromPrincipalId: string | null;
  changedAt: Date;
  /** Null until it is in the log. */
  logIndex: number | null;
}

/** The place in the log of a fact of grant `g`. */
const indexOf = (type: 2 | 3): string =>
  `(SELECT e.log_index::float8 FROM log_entries e WHERE e.grant_id = g.grant_id AND e.entry_type = ${type} LIMIT 1)`;

const PERIOD: Columns<AccessPeriod> = {
  grantId: 'g.grant_id',
  granteeTenantId: 'g.grantee_tenant_id',
  scopes: 'g.scopes',
  from: 'g.created_at',
  until: 'least(g.revoked_at, g.expires_at)',
  endedBy: `CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked' WHEN g.expires_at <= statement_timestamp() THEN 'expired' END`,
  grantedIndex: indexOf(2),
  endedIndex: indexOf(3),
};

const LIST = newestFirst('g', 'grant_id');
const ACCESS_HISTORY = statement<Actor & SubjectRef & Before, ListRow<AccessFacts, AccessPeriod>>(
  'access_history',
  `SELECT ${FACTS},
  ${columns(PERIOD, 'item?')},
  ${LIST.position}
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.subject_key = s.subject_key AND f.owns_subject AND ${LIST.next}) g ON true
 ${LIST.order}`,
);

const CHANGE: Columns<OwnerChange> = {
  // First: it is there wherever the change is.
  changedAt: 'c.changed_at',
  principalId: 'c.principal_id',
  fromPrincipalId: 'c.from_principal_id',
  logIndex: `(SELECT e.log_index::float8 FROM log_entries e WHERE e.owner_change_id = c.owner_change_id LIMIT 1)`,
};

const OWNER_HISTORY = statement<Actor & { before: string | number; rows: number }, ListRow<AccessFacts, OwnerChange>>(
  'owner_history',
  `SELECT ${FACTS},
  ${columns(CHANGE, 'item?')},
  ARRAY[c.owner_change_id::text] AS position
  FROM ${inputRow(ACTOR)}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (SELECT * FROM owner_changes c
                      WHERE c.tenant_id = i.tenant_id AND f.member_status = 'active'
                        AND (-c.owner_change_id) > -(:before::bigint)
                      ORDER BY (-c.owner_change_id) LIMIT :rows) c ON true
 ORDER BY (-c.owner_change_id)`,
);

/** After every change that there can be. */
const NEWEST = String(2n ** 62n);

/** What was so, from when to when, with its places in the log. */
export class HistoryStore {
  constructor(private readonly sql: Sql) {}

  /** Who could read a subject, newest first, and what the caller may do. Only its owner gets any. */
  async access(
    actor: Actor,
    subject: SubjectRef,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<AccessPeriod> }> {
    return toList(await this.sql.run(ACCESS_HISTORY, { ...actor, ...subject, ...before(request) }), request.limit);
  }

  /** Who owned the tenant, newest change first, and what the caller may do. Only a member gets any. */
  async owners(actor: Actor, { limit, after }: PageRequest): Promise<{ facts: AccessFacts; page: Page<OwnerChange> }> {
    const [position = NEWEST] = after ?? [];
    return toList(await this.sql.run(OWNER_HISTORY, { ...actor, before: position, rows: limit + 1 }), limit);
  }
}
