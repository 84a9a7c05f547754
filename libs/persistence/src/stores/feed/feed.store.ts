import { type AccessFacts, type Actor, type LogEntryType, type LogFact, RULES, type SubjectRef } from '@iss/domain';
import { columns } from '../../sql/columns';
import { ACTOR, inputRow, inputRows } from '../../sql/input';
import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { FACTS, grantedColumns, MEMBER_ACCESS, rolesOf, scopesHeldBy, TO_ALL } from '../facts/access-facts';
import { FACT, FACT_OF_KEYS, factOf, type FactRow, LOG_ENTRY_NUMBERS } from '../log/log-facts';

/** An entry of the log as whoever it concerns is told of it. */
export interface Change {
  /** Its place in the log. */
  logIndex: number;
  fact: LogFact;
  /** What it is about; null where that is a tenant. */
  subject: SubjectRef | null;
  /** Of a grant. */
  granteeTenantId: string | null;
}

export interface ChangesRequest {
  /** The place of the last entry that was seen; -1: none. */
  after: number;
  /** Items at most, ≥ 1. */
  limit: number;
  /** Absent: of every type. */
  type: LogEntryType | undefined;
  subjectType: string | undefined;
}

export interface Changes {
  items: Change[];
  /** Nothing that the caller may see now stands in between: where to go on. */
  next: number;
  /** Whether there is more at this moment. */
  hasMore: boolean;
}

/** How far somebody has read the feed of a tenant. */
export interface FeedPlace {
  tenantId: string;
  after: number;
}

/** Entries that are looked at for one page at most, whether or not they are shown. */
const LOOKED_AT = 1_001;

/** Whether the caller may see the entry `k` of a fact, whoever it was that got a row for it. */
const MAY_SEE = `CASE
      WHEN n.snapshot_id IS NOT NULL OR er.erasure_id IS NOT NULL THEN s.owner_tenant_id = f.tenant_id OR (f.allow_counterparty_access
        AND (${scopesHeldBy('f.tenant_id')}) && '{${RULES.followShared.subject.join()}}')
      WHEN g.grant_id IS NOT NULL THEN f.tenant_id IN (g.grantor_tenant_id, g.grantee_tenant_id)
      ELSE c.tenant_id = f.tenant_id END`;

/** What {@link FACT} leaves out, and the caller is told. */
const ABOUT = [columns(grantedColumns(), 'subject?'), 'g.grantee_tenant_id AS "granteeTenantId"'].join(',\n  ');

interface ChangeRow extends FactRow {
  logIndex: number | null;
  subject: SubjectRef | null;
  granteeTenantId: string | null;
}

/**
 * Tenants whose lists are merged into the feed of one that they let read all that they own. Of others it has what came since
 * their grants: those rows it gets like everybody else.
 */
const MERGED_GRANTORS = 100;

/**
 * The next places in the lists of a tenant, for caller `f`. They follow one another: sorted by list first, no more of them are
 * taken apart than are looked at.
 */
const placesOf = (tenantId: string): string => `(
     SELECT e.log_index
       FROM (SELECT t.last_index, t.log_indexes FROM tenant_feed t
              WHERE (t.tenant_id, t.last_index) > (${tenantId}, :after::bigint) AND t.tenant_id <= ${tenantId} AND f.may_read
              ORDER BY t.tenant_id, t.last_index LIMIT :lookedAt) t
      CROSS JOIN LATERAL unnest(t.log_indexes) AS e(log_index)
      WHERE e.log_index > :after::bigint AND e.log_index < f.size
      ORDER BY t.last_index, e.log_index LIMIT :lookedAt
   )`;

/**
 * The rows that name what may concern the tenant are in the order of the log, and each is read from the caller's place on.
 * Whatever a row says, rights are asked for when its entry is shown.
 */
const CHANGES = statement<
  Actor & { after: number; limit: number; lookedAt: number; entryType: number | null; subjectType: string | null },
  ChangeRow & { facts: AccessFacts; looked: number; reached: number | null }
>(
  'changes',
  `WITH caller AS MATERIALIZED (
  SELECT i.tenant_id, f.*, (SELECT size FROM log_feed WHERE is_one) AS size,
         f.member_status = 'active' AND f.role IN (${rolesOf(RULES.readChanges)}) AS may_read
    FROM ${inputRow(ACTOR)}
    ${MEMBER_ACCESS}
), own AS MATERIALIZED (
  SELECT e.log_index FROM caller f CROSS JOIN LATERAL ${placesOf('f.tenant_id')} e
), of_grantors AS MATERIALIZED (
  SELECT e.log_index
    FROM caller f
   CROSS JOIN LATERAL (
     SELECT g.grantor_tenant_id FROM grants g
      WHERE (g.grantee_tenant_id, g.grantor_tenant_id) >= (f.tenant_id, '') AND g.grantee_tenant_id <= f.tenant_id
        AND ${TO_ALL.byGrantee} AND f.may_read AND f.allow_counterparty_access
        AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT ${MERGED_GRANTORS}
   ) g
   CROSS JOIN LATERAL ${placesOf('g.grantor_tenant_id')} e
), shared AS MATERIALIZED (
  SELECT t.log_index
    FROM caller f
   CROSS JOIN LATERAL (
     SELECT t.log_index FROM shared_feed t
      WHERE (t.tenant_id, t.log_index) > (f.tenant_id, :after::bigint)
        AND (t.tenant_id, t.log_index) < (f.tenant_id, f.size)
        AND f.may_read AND f.allow_counterparty_access
      ORDER BY t.tenant_id, t.log_index LIMIT :lookedAt
   ) t
), looked_at AS MATERIALIZED (
  SELECT log_index FROM (SELECT * FROM own UNION SELECT * FROM of_grantors UNION SELECT * FROM shared) u ORDER BY log_index LIMIT :lookedAt
)
SELECT ${FACTS},
  l.looked, l.reached, shown.*
  FROM caller f
 CROSS JOIN (SELECT count(*)::int AS looked, max(log_index)::float8 AS reached FROM looked_at) l
  LEFT JOIN LATERAL (
    SELECT k.log_index::float8 AS "logIndex",
  ${FACT},
  ${ABOUT}
      FROM looked_at l
     CROSS JOIN LATERAL (SELECT * FROM log_entries k WHERE k.log_index = l.log_index LIMIT 1) k
      ${FACT_OF_KEYS}
     WHERE (:entryType::int IS NULL OR k.entry_type = :entryType::int)
       AND (:subjectType::text IS NULL OR s.subject_type = :subjectType::text)
       AND (${MAY_SEE})
     ORDER BY k.log_index LIMIT :limit
  ) shown ON true
 ORDER BY shown."logIndex"`,
);

/** Of each tenant whether it has a row beyond its place. */
const NEWS = statement<{ inputs: readonly FeedPlace[] }, { isNew: boolean }>(
  'feed_news',
  `SELECT coalesce((SELECT true FROM tenant_feed t
                  WHERE (t.tenant_id, t.last_index) > (i.tenant_id, i.after) AND t.tenant_id <= i.tenant_id
                  ORDER BY t.tenant_id, t.last_index LIMIT 1),
                (SELECT true FROM shared_feed t
                  WHERE (t.tenant_id, t.log_index) > (i.tenant_id, i.after) AND t.tenant_id <= i.tenant_id
                  ORDER BY t.tenant_id, t.log_index LIMIT 1), false) AS "isNew"
  FROM ${inputRows({ tenant_id: 'text', after: 'bigint' })}
 ORDER BY i.ord`,
);

const SIZE = statement<NoParameters, { size: number }>(
  'feed_size',
  'SELECT size::float8 AS size FROM log_feed WHERE is_one',
);

/** What changed of what a tenant owns or may read, in the order of the log. */
export class FeedStore {
  constructor(private readonly sql: Sql) {}

  /**
   * The next entries that concern the tenant and that the caller may see at this moment, and what it may do. Only an active
   * member gets any; those of others' subjects need its counterparty flag. No more entries are looked at than
   * {@link LOOKED_AT}, so that a page may be short or empty although there is more.
   */
  async changes(
    actor: Actor,
    { after, limit, type, subjectType }: ChangesRequest,
  ): Promise<{ facts: AccessFacts; changes: Changes }> {
    const isFiltered = type !== undefined || subjectType !== undefined;
    // One more than are shown says whether there is more.
    const lookedAt = isFiltered ? LOOKED_AT : Math.min(LOOKED_AT, limit + 1);
    const rows = await this.sql.run(CHANGES, {
      ...actor,
      after,
      limit,
      lookedAt,
      entryType: type === undefined ? null : LOG_ENTRY_NUMBERS[type],
      subjectType: subjectType ?? null,
    });
    const [first] = rows;
    if (first === undefined) throw new Error('a list answered no row');
    const { facts, looked, reached } = first;
    const items = rows.map(changeOf).filter((change) => change !== null);
    const end = Math.max(after, reached ?? after);
    const next = items.length < limit ? end : (items.at(-1)?.logIndex ?? end);
    return { facts, changes: { items, next, hasMore: looked === lookedAt || next < end } };
  }

  /** Of each place whether there may be something beyond it, in their order: whether it may be seen is not asked. */
  async news(places: readonly FeedPlace[]): Promise<boolean[]> {
    return (await this.sql.run(NEWS, { inputs: places })).map(({ isNew }) => isNew);
  }

  /** Entries of the log that are in the feeds. */
  async size(): Promise<number> {
    return (await this.sql.one(SIZE, {})).size;
  }
}

function changeOf({ logIndex, subject, granteeTenantId, ...row }: ChangeRow): Change | null {
  const fact = factOf(row);
  return logIndex === null || fact === null ? null : { logIndex, fact, subject, granteeTenantId };
}
