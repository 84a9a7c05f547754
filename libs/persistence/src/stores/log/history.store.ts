import type { AccessFacts, Actor, Scope, SubjectRef } from '@iss/domain';
import { type Columns, columns } from '../../sql/columns';
import { ACTOR, inputRow, SUBJECT } from '../../sql/input';
import { type Before, before, type ListRow, newestFirst, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, grantedColumns, MEMBER_ACCESS, TENANT_ACCESS, TO_ALL } from '../facts/access-facts';
import { NAMED_SUBJECT } from '../facts/joins';
import { LOG_ENTRY_NUMBERS } from './log-facts';

/**
 * A period in which a tenant could read a subject by a grant on it or on `ALL_SUBJECTS`. It starts when the grant was made or
 * changed, and lasts until it was changed or ended. The log has entries for both.
 */
export interface AccessPeriod extends SubjectRef {
  grantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
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

/** Selects the place of the log entry for a fact of grant `g`. */
const indexOf = (type: 'grant.created' | 'grant.revoked'): string =>
  `(SELECT e.log_index::float8 FROM log_entries e
     WHERE e.grant_id = g.grant_id AND e.entry_type = ${LOG_ENTRY_NUMBERS[type]} LIMIT 1)`;
const indexOfChange = (change: string): string =>
  `(SELECT e.log_index::float8 FROM log_entries e WHERE e.grant_change_id = ${change}.grant_change_id LIMIT 1)`;

/** The columns of a period of grant `g`. It starts at `b`, the creation or a change; `next` is the following change. */
const PERIOD: Columns<AccessPeriod> = {
  grantId: 'g.grant_id',
  granteeTenantId: 'g.grantee_tenant_id',
  ...grantedColumns(),
  scopes: 'coalesce(next.from_scopes, g.scopes)',
  from: 'b.created_at',
  until: 'coalesce(next.changed_at, least(g.revoked_at, g.expires_at))',
  endedBy: `CASE WHEN next.grant_change_id IS NOT NULL THEN 'replaced' WHEN g.revoked_at IS NOT NULL THEN 'revoked'
       WHEN g.expires_at <= statement_timestamp() THEN 'expired' END`,
  grantedIndex: `CASE WHEN b.grant_change_id = 0 THEN ${indexOf('grant.created')} ELSE ${indexOfChange('b')} END`,
  endedIndex: `CASE WHEN next.grant_change_id IS NOT NULL THEN ${indexOfChange('next')} ELSE ${indexOf('grant.revoked')} END`,
};

const LIST = newestFirst('b', 'grant_id');
const made = (whose: string): string => `(
      SELECT g.grant_id, 0::bigint AS grant_change_id, g.created_at FROM grants g
       WHERE ${whose} AND f.owns_subject AND (g.created_at, g.grant_id) < (:beforeTime::timestamptz, :beforeId::uuid)
       ORDER BY g.created_at DESC, g.grant_id DESC LIMIT :rows)`;
const changed = (whose: string): string => `(
      SELECT g.grant_id, g.grant_change_id, g.changed_at FROM grant_changes g
       WHERE ${whose} AND f.owns_subject AND (g.changed_at, g.grant_id) < (:beforeTime::timestamptz, :beforeId::uuid)
       ORDER BY g.changed_at DESC, g.grant_id DESC LIMIT :rows)`;
const ON_SUBJECT = 'g.subject_key = s.subject_key';
const onAll = (words: string): string => `g.grantor_tenant_id = s.owner_tenant_id AND ${words}`;

const PERIODS = [made(ON_SUBJECT), changed(ON_SUBJECT), made(onAll(TO_ALL.made)), changed(onAll(TO_ALL.changed))];

/** Lists periods by their start `b`, newest first. Each search reads one page, and the newest rows of all are the result. */
const ACCESS_HISTORY = statement<Actor & SubjectRef & Before, ListRow<AccessFacts, AccessPeriod>>(
  'access_history',
  `SELECT ${FACTS},
  ${columns(PERIOD, 'item?')},
  ${LIST.position}
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}
  LEFT JOIN LATERAL (
    SELECT * FROM (${PERIODS.join(' UNION ALL ')}) b
    ${LIST.order} LIMIT :rows
  ) b ON true
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = b.grant_id LIMIT 1) g ON true
  LEFT JOIN LATERAL (SELECT * FROM grant_changes h
                      WHERE h.grant_id = b.grant_id AND (-h.grant_change_id) < -b.grant_change_id
                      ORDER BY (-h.grant_change_id) DESC LIMIT 1) next ON true
 ${LIST.order}`,
);

const CHANGE: Columns<OwnerChange> = {
  // First, because it is never null when there is a change.
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

/** Larger than any id of a change. */
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
