import {
  type AccessFacts,
  type Actor,
  type LogEntryType,
  type LogFact,
  momentOfFact,
  RULES,
  type SubjectRef,
} from '@iss/domain';
import { RecentMap } from '@iss/platform';
import { columns } from '../../sql/columns';
import { ACTOR, inputRow, inputRows } from '../../sql/input';
import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { FACTS, grantedColumns, MEMBER_ACCESS, rolesOf, scopesFollowedBy } from '../facts/access-facts';
import { FACT, FACT_AT, FACT_OF_KEYS, factOf, type FactRow } from '../log/log-facts';

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
  /** With `subjectType`. */
  subjectId: string | undefined;
  /** Only facts from this moment on. */
  from: Date | null;
}

export interface Changes {
  items: Change[];
  /** Nothing that the caller may see now stands in between: where to go on. */
  next: number;
  /** Whether there is more at this moment. */
  hasMore: boolean;
  /** False: a worker still adds older entries before `next`, by a grant on all subjects that was made lately. */
  isComplete: boolean;
}

/** How far somebody has read the feed of a tenant. */
export interface FeedPlace {
  tenantId: string;
  after: number;
}

/** Entries that are looked at for one page at most, whether or not they are shown. */
const LOOKED_AT = 1_001;

/** What {@link FACT} leaves out, and the caller is told. */
const ABOUT = [
  columns(grantedColumns(), 'subject?'),
  's.subject_key::float8 AS "subjectKey"',
  'g.grantee_tenant_id AS "granteeTenantId"',
].join(',\n  ');

interface ChangeRow extends FactRow {
  logIndex: number;
  subjectKey: number | null;
  subject: SubjectRef | null;
  granteeTenantId: string | null;
}

/**
 * Whether a place is the same entry as it was: another one when the log has been begun anew, and when the server or the table is
 * another one, which may have been restored to an older state.
 */
const EPOCH = `concat_ws(' ', l.began_at, l.tableoid, pg_postmaster_start_time())`;

/**
 * The rows that name what may concern the tenant are in the order of the log, and each is read from the caller's place on. All of
 * them are the tenant's own, so that nobody else's number makes a page slower or leaves anything out. The lists of what it owns
 * follow one another: sorted by list first, no more of them are taken apart than are looked at. Whatever a row says, rights are
 * asked for when its entry is shown.
 */
const PLACES = statement<
  Actor & { after: number; lookedAt: number },
  { facts: AccessFacts; epoch: string; places: number[] | null; copiedTo: number | null }
>(
  'change_places',
  `WITH caller AS MATERIALIZED (
  SELECT i.tenant_id, f.*, l.size, l.granted_size, ${EPOCH} AS epoch,
         f.member_status = 'active' AND f.role IN (${rolesOf(RULES.readChanges)}) AS may_read
    FROM ${inputRow(ACTOR)}
   CROSS JOIN log_feed l
    ${MEMBER_ACCESS}
   WHERE l.is_one
), own AS MATERIALIZED (
  SELECT e.log_index
    FROM caller f
   CROSS JOIN LATERAL (
     SELECT e.log_index
       FROM (SELECT t.last_index, t.log_indexes FROM tenant_feed t
              WHERE (t.tenant_id, t.last_index) > (f.tenant_id, :after::bigint) AND t.tenant_id <= f.tenant_id AND f.may_read
              ORDER BY t.tenant_id, t.last_index LIMIT :lookedAt) t
      CROSS JOIN LATERAL unnest(t.log_indexes) AS e(log_index)
      WHERE e.log_index > :after::bigint AND e.log_index < f.size
      ORDER BY t.last_index, e.log_index LIMIT :lookedAt
   ) e
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
)
SELECT ${FACTS},
  f.epoch,
  (SELECT array_agg(l.log_index ORDER BY l.log_index)::float8[]
     FROM (SELECT log_index
             FROM (SELECT * FROM own UNION SELECT * FROM shared) u
            ORDER BY log_index LIMIT :lookedAt) l) AS places,
  CASE WHEN f.may_read AND f.allow_counterparty_access THEN
    CASE WHEN f.granted_size < f.size THEN 0
         ELSE (SELECT g.next_index::float8 FROM granted_feeds g
                WHERE (g.grantee_tenant_id, g.next_index) >= (f.tenant_id, 0) AND g.grantee_tenant_id <= f.tenant_id
                  AND g.turn IS NOT NULL
                ORDER BY g.grantee_tenant_id, g.next_index LIMIT 1) END
  END AS "copiedTo"
  FROM caller f`,
);

/** What stands at these places, unless the log was begun anew meanwhile. */
const ENTRIES = statement<{ epoch: string; indexes: readonly number[] }, ChangeRow>(
  'changes',
  `SELECT k.log_index::float8 AS "logIndex",
  ${FACT},
  ${ABOUT}
  FROM unnest(:indexes::bigint[]) i(log_index)
 CROSS JOIN LATERAL (SELECT * FROM log_entries k WHERE k.log_index = i.log_index LIMIT 1) k
  ${FACT_OF_KEYS}
 WHERE (SELECT ${EPOCH} FROM log_feed l WHERE l.is_one) = :epoch`,
);

/** Which of these subjects of others the tenant may follow at this moment. */
const FOLLOWED = statement<{ tenantId: string; inputs: readonly OthersSubject[] }, { mayFollow: boolean }>(
  'changes_followed',
  `SELECT coalesce((${scopesFollowedBy(':tenantId::text')}) && '{${RULES.followShared.subject.join()}}', false) AS "mayFollow"
  FROM (SELECT i.subject_key, i.owner_tenant_id, i.ord FROM ${inputRows({ subject_key: 'bigint', owner_tenant_id: 'text' })}) s
 ORDER BY s.ord`,
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

const SIZE_BEFORE = statement<{ moment: Date }, { size: number }>(
  'feed_size_before',
  `SELECT coalesce((SELECT c.size FROM log_checkpoints c
                  WHERE c.signed_at <= :moment::timestamptz AND (c.marked_at IS NULL) IS TRUE
                  ORDER BY c.signed_at DESC LIMIT 1), 0)::float8 AS size`,
);

/** Of the first entry of the log that is not in the feeds. */
const LAG = statement<NoParameters, { ageMs: number }>(
  'feed_lag',
  `SELECT coalesce(extract(epoch FROM clock_timestamp() - ${FACT_AT}) * 1000, 0)::float8 AS "ageMs"
  FROM (SELECT size FROM log_feed WHERE is_one) feed
  LEFT JOIN LATERAL (SELECT * FROM log_entries k WHERE k.log_index = feed.size LIMIT 1) k ON true
  ${FACT_OF_KEYS}`,
);

/** A subject, and which tenant owns it. */
interface OthersSubject {
  subjectKey: number;
  ownerTenantId: string;
}

/** A change as it is kept. */
interface KnownChange {
  readonly change: Change;
  /** What one follows by a right on it; null: only tenants that it names see it. */
  readonly followed: OthersSubject | null;
}

/** Some ten million bytes. */
const KEPT_CHANGES = 4_096;

/** What changed of what a tenant owns or may read, in the order of the log. */
export class FeedStore {
  /** An entry of the log never changes: what is known of one is given again, the same object each time. */
  private readonly known = new RecentMap<number, KnownChange>(KEPT_CHANGES);
  private epoch = '';

  constructor(private readonly sql: Sql) {}

  /**
   * The next entries that concern the tenant and that the caller may see at this moment, and what it may do. Only an active
   * member gets any; those of others' subjects need its counterparty flag. No more entries are looked at than
   * {@link LOOKED_AT}, so that a page may be short or empty although there is more.
   */
  async changes(
    actor: Actor,
    { after: sentAfter, limit, type, subjectType, subjectId, from }: ChangesRequest,
  ): Promise<{ facts: AccessFacts; changes: Changes }> {
    const isFiltered = type !== undefined || subjectType !== undefined || from !== null;
    const after = from === null ? sentAfter : Math.max(sentAfter, (await this.sizeBefore(from)) - 1);
    // One more than are shown says whether there is more.
    const lookedAt = isFiltered ? LOOKED_AT : Math.min(LOOKED_AT, limit + 1);
    const { facts, epoch, places, copiedTo } = await this.sql.one(PLACES, { ...actor, after, lookedAt });
    const looked = places ?? [];
    const asked = (await this.entries(epoch, looked)).filter(
      ({ change: { fact, subject } }) =>
        (type === undefined || fact.type === type) &&
        (subjectType === undefined || subject?.subjectType === subjectType) &&
        (subjectId === undefined || subject?.subjectId === subjectId) &&
        (from === null || momentOfFact(fact) >= from),
    );
    const seen = await this.visible(actor, facts, asked);
    const items = seen.slice(0, limit).map(({ change }) => change);
    const end = Math.max(after, looked.at(-1) ?? after);
    const next = items.length < limit ? end : (items.at(-1)?.logIndex ?? end);
    const isComplete = copiedTo === null || copiedTo > next;
    return { facts, changes: { items, next, hasMore: looked.length === lookedAt || next < end, isComplete } };
  }

  /** Returns how many entries of the log are older than this moment for certain: a checkpoint of then has them. */
  private async sizeBefore(moment: Date): Promise<number> {
    return (await this.sql.one(SIZE_BEFORE, { moment })).size;
  }

  /** For how many milliseconds the oldest fact has been committed that is in the log and not in the feeds; 0: there is none. */
  async lagMs(): Promise<number> {
    return Math.max(0, (await this.sql.one(LAG, {})).ageMs);
  }

  /** What stands at these places, ascending; without those whose fact is gone from its table. */
  private async entries(epoch: string, places: readonly number[]): Promise<KnownChange[]> {
    if (epoch !== this.epoch) {
      this.known.clear();
      this.epoch = epoch;
    }
    const found = new Map<number, KnownChange>();
    for (const place of places) {
      const known = this.known.get(place);
      if (known !== undefined) found.set(place, known);
    }
    const indexes = places.filter((place) => !found.has(place));
    if (indexes.length > 0) {
      for (const row of await this.sql.run(ENTRIES, { epoch, indexes })) {
        const known = knownChangeOf(row);
        if (known === null) continue;
        found.set(row.logIndex, known);
        if (epoch === this.epoch) this.known.set(row.logIndex, known);
      }
    }
    return places.flatMap((place) => found.get(place) ?? []);
  }

  /** Those that the tenant may see at this moment, whoever it was that got a row for them. */
  private async visible(
    { tenantId }: Actor,
    { membership }: AccessFacts,
    entries: readonly KnownChange[],
  ): Promise<readonly KnownChange[]> {
    const others = new Map<number, OthersSubject>();
    for (const { followed } of entries) {
      if (followed !== null && followed.ownerTenantId !== tenantId) others.set(followed.subjectKey, followed);
    }
    const inputs = membership?.allowCounterpartyAccess === true ? [...others.values()] : [];
    const rights = inputs.length === 0 ? [] : await this.sql.run(FOLLOWED, { tenantId, inputs });
    const mayFollow = new Set(
      inputs.filter((_, index) => rights[index]?.mayFollow).map(({ subjectKey }) => subjectKey),
    );
    return entries.filter(({ change: { fact, granteeTenantId }, followed }) =>
      followed === null
        ? tenantId === fact.tenantId || tenantId === granteeTenantId
        : tenantId === followed.ownerTenantId || mayFollow.has(followed.subjectKey),
    );
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

/** What is followed by a right on the subject, of which every version tells; of all else the tenants know that it names. */
const IS_FOLLOWED: Readonly<Record<LogEntryType, boolean>> = {
  'snapshot.created': true,
  'subject.erased': true,
  'grant.created': false,
  'grant.changed': false,
  'grant.revoked': false,
  'tenant.owner_changed': false,
};

function knownChangeOf({ logIndex, subjectKey, subject, granteeTenantId, ...row }: ChangeRow): KnownChange | null {
  const fact = factOf(row);
  if (fact === null) return null;
  const followed = subjectKey !== null && IS_FOLLOWED[fact.type] ? { subjectKey, ownerTenantId: fact.tenantId } : null;
  return { change: { logIndex, fact, subject, granteeTenantId }, followed };
}
