import type { LogEntryType } from '@iss/domain';
import { requireNothingHidden } from '../../schema-faults';
import type { Sql, TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { isAcceptedGrantToAll } from '../facts/access-facts';
import { FACT, FACT_OF_KEYS, factOf, type FactRow, LOG_ENTRY_NUMBERS, VIEW_ENTRY_NUMBER } from '../log/log-facts';
import { LIVE_GRANTS_ON } from './shared-with';

/** The maximum number of entries per batch. */
const BATCH = 2_000;
/** The maximum number of rows that a batch writes for readers of subjects. A single entry may exceed it. */
const BATCH_ROWS = 20_000;
/** Readers of a subject are counted up to this number. A subject that reaches it is assumed to have the maximum. */
const COUNTED_READERS = 100;
/** The number of entries per step in the search for grants on all subjects in entries that another release integrated. */
const MAX_SEARCHED = 20_000;
/** The number of a grantor's entries per transaction that are copied for a grant on all subjects. */
const MAX_COPIED = 2_000;
/** The number of entries per row of a tenant's feed. A longer row would be compressed. */
const CHUNK = 200;

/** The recipients of an entry, apart from the tenant that owns the fact. */
const AUDIENCE: Record<LogEntryType, 'readers' | 'grantee' | 'nobody_else'> = {
  'snapshot.created': 'readers',
  'grant.created': 'grantee',
  'grant.changed': 'grantee',
  'grant.revoked': 'grantee',
  'tenant.owner_changed': 'nobody_else',
  'subject.erased': 'readers',
};

/** Locks the feed. Only one process extends it at a time; the others skip it. */
const TAKE_FEED = statement<NoParameters, { size: number; grantedSize: number; treeSize: number }>(
  'feed_take',
  `SELECT f.size::float8 AS size, f.granted_size::float8 AS "grantedSize", t.size::float8 AS "treeSize"
  FROM log_feed f CROSS JOIN log_tree t
 WHERE f.is_one AND t.is_one FOR UPDATE OF f SKIP LOCKED`,
);

/** An entry with the data that determines its feeds. */
interface EntryRow extends FactRow {
  logIndex: number;
  subjectKey: number | null;
  granteeTenantId: string | null;
  /** For a grant: true if it is on one subject, or its grantee accepted it. */
  isForGrantee: boolean;
  /** The number of live grants on the subject, up to `COUNTED_READERS`. */
  readers: number;
  /** The number of the subject's versions in the log. */
  versions: number;
  /** True for audit records, disclosures and views, which no feed has. */
  isInNoFeed: boolean;
}

const ENTRIES = statement<{ from: number; to: number }, EntryRow>(
  'feed_entries',
  `SELECT k.log_index::float8 AS "logIndex", s.subject_key::float8 AS "subjectKey", g.grantee_tenant_id AS "granteeTenantId",
  (SELECT count(*)::int FROM (SELECT FROM (${LIVE_GRANTS_ON('s.subject_key', 's.owner_tenant_id')}) g LIMIT ${COUNTED_READERS}) counted) AS readers,
  coalesce((SELECT e.snapshot_version FROM log_entries e
             WHERE e.subject_key = g.subject_key AND e.entry_type = 1
             ORDER BY e.snapshot_version DESC LIMIT 1), 0) AS versions,
  (g.subject_key <> 0 OR g.accepted_at IS NOT NULL) IS TRUE AS "isForGrantee",
  k.record_batch_id IS NOT NULL OR k.entry_type = ${VIEW_ENTRY_NUMBER} AS "isInNoFeed",
  ${FACT}
  FROM (SELECT * FROM log_entries WHERE log_index >= :from::bigint AND log_index < :to::bigint ORDER BY log_index) k
  ${FACT_OF_KEYS}
 ORDER BY k.log_index`,
);

interface Chunk {
  tenantId: string;
  lastIndex: number;
  /** The positions of its first and last entry in the list of all entries, from 1. */
  first: number;
  last: number;
}

/** An entry about a subject, for all tenants that may read the subject. */
interface ForReaders {
  subjectKey: number;
  owner: string;
  logIndex: number;
}

/** A tenant that may read a subject from now on, and receives its earlier entries. */
interface ForGrantee {
  subjectKey: number;
  granteeTenantId: string;
}

/** Selects the entries about the versions and erasures of the subjects in `granted`, for their grantees. */
const EARLIER_ENTRIES = `SELECT i.tenant_id, e.log_index
    FROM unnest(:granted.subjectKey::bigint[], :granted.granteeTenantId::text[]) AS i(subject_key, tenant_id)
   CROSS JOIN LATERAL (SELECT e.log_index FROM log_entries e
                        WHERE e.subject_key = i.subject_key AND e.entry_type = 1 OFFSET 0) e
   UNION
  SELECT i.tenant_id, e.log_index
    FROM unnest(:granted.subjectKey::bigint[], :granted.granteeTenantId::text[]) AS i(subject_key, tenant_id)
   CROSS JOIN LATERAL (SELECT er.erasure_id FROM erasures er WHERE er.subject_key = i.subject_key OFFSET 0) er
   CROSS JOIN LATERAL (SELECT e.log_index FROM log_entries e WHERE e.erasure_id = er.erasure_id OFFSET 0) e`;

/** Adds the earlier entries for grants that have started. */
const SHARE_EARLIER = statement<{ granted: readonly ForGrantee[] }>(
  'feed_share_earlier',
  `INSERT INTO shared_feed (tenant_id, log_index)
  ${EARLIER_ENTRIES}
   ORDER BY 1, 2
      ON CONFLICT DO NOTHING`,
);

/** Appends the entries to all feeds and advances the feed's size, in one statement. */
const APPEND = statement<
  {
    logIndexes: readonly number[];
    chunks: readonly Chunk[];
    read: readonly ForReaders[];
    granted: readonly ForGrantee[];
    from: number;
    to: number;
  },
  { isNext: boolean }
>(
  'feed_append',
  `WITH owned AS (
  INSERT INTO tenant_feed (tenant_id, last_index, log_indexes)
  SELECT tenant_id, last_index, (:logIndexes::bigint[])[first_place:last_place]
    FROM unnest(:chunks.tenantId::text[], :chunks.lastIndex::bigint[], :chunks.first::int[], :chunks.last::int[])
           AS c(tenant_id, last_index, first_place, last_place)
   ORDER BY tenant_id, last_index
), shared AS (
  INSERT INTO shared_feed (tenant_id, log_index)
  SELECT g.grantee_tenant_id, i.log_index
    FROM unnest(:read.subjectKey::bigint[], :read.owner::text[], :read.logIndex::bigint[])
           AS i(subject_key, owner, log_index)
   CROSS JOIN LATERAL (${LIVE_GRANTS_ON('i.subject_key', 'i.owner')}) g
   UNION
  ${EARLIER_ENTRIES}
   ORDER BY 1, 2
      ON CONFLICT DO NOTHING
), grown AS (
  UPDATE log_feed SET size = :to::bigint WHERE is_one AND (size = :from::bigint) IS TRUE RETURNING 1
)
SELECT EXISTS (SELECT FROM grown) AS "isNext"`,
);

const lastTurnOf = (share: string): string => `(SELECT w.turn FROM granted_feeds w
                    WHERE (w.share, w.turn) >= (${share}, 0) AND w.share <= ${share} AND w.turn IS NOT NULL
                    ORDER BY w.share DESC, w.turn DESC LIMIT 1)`;

/**
 * Queues the copy of the older entries of the grantors in `given` (grantee, grantor, until_index). Newer entries find the grant
 * by themselves. A pair of tenants with a row continues at its `next_index`, so that nothing is copied twice.
 *
 * Founders take turns: each further copy of one founder comes after the first copy of every other founder.
 */
const COPY_LATER = `sharing AS MATERIALIZED (
  SELECT v.*, coalesce(t.founded_by, v.grantor_tenant_id) AS share
    FROM given v
    LEFT JOIN LATERAL (SELECT * FROM tenants t WHERE t.tenant_id = v.grantor_tenant_id LIMIT 1) t ON true
), waiting AS (
  INSERT INTO granted_feeds AS f (grantee_tenant_id, grantor_tenant_id, share, until_index, turn)
  SELECT s.grantee_tenant_id, s.grantor_tenant_id, s.share, s.until_index,
         greatest((SELECT w.turn FROM granted_feeds w WHERE w.turn IS NOT NULL ORDER BY w.turn LIMIT 1),
                  ${lastTurnOf('s.share')}, 0)
           + row_number() OVER (PARTITION BY s.share ORDER BY s.until_index, s.grantee_tenant_id, s.grantor_tenant_id)
    FROM sharing s
   ORDER BY 1, 2
      ON CONFLICT (grantee_tenant_id, grantor_tenant_id) DO UPDATE
     SET until_index = greatest(f.until_index, excluded.until_index), turn = coalesce(f.turn, excluded.turn)
)`;

/** Queues copies for the accepted grants on all subjects among these entries. */
const SEEK_GRANTED = statement<{ from: number; to: number }>(
  'feed_seek_granted',
  `WITH given AS MATERIALIZED (
  SELECT g.grantee_tenant_id, g.grantor_tenant_id, max(k.log_index) AS until_index
    FROM (SELECT * FROM log_entries
           WHERE log_index >= :from::bigint AND log_index < :to::bigint
             AND entry_type IN (${LOG_ENTRY_NUMBERS['grant.created']}, ${LOG_ENTRY_NUMBERS['grant.changed']})
           ORDER BY log_index) k
    LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id LIMIT 1) h ON true
   CROSS JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id) LIMIT 1) g
   WHERE g.subject_key = 0 AND g.accepted_at IS NOT NULL
   GROUP BY 1, 2
), ${COPY_LATER}
UPDATE log_feed SET granted_size = :to::bigint WHERE is_one`,
);

/**
 * Finds grants that were accepted or started since, and queues copies for those on all subjects. Entries after `size` reach their grantees without a copy,
 * because the process that holds the feed sees the grants. The entries before `size` must be copied.
 */
const SEEK_ACCEPTED = statement<{ size: number; most: number }, ForGrantee>(
  'feed_seek_accepted',
  `WITH due AS MATERIALIZED (
  SELECT g.grant_id FROM grants g WHERE g.is_feed_due ORDER BY g.grant_id LIMIT :most FOR NO KEY UPDATE SKIP LOCKED
), taken AS (
  UPDATE grants g SET is_feed_due = false FROM due WHERE g.grant_id = due.grant_id
  RETURNING g.subject_key, g.grantee_tenant_id, g.grantor_tenant_id
), given AS MATERIALIZED (
  SELECT DISTINCT t.grantee_tenant_id, t.grantor_tenant_id, :size::bigint AS until_index FROM taken t WHERE t.subject_key = 0
), ${COPY_LATER}
SELECT t.subject_key::float8 AS "subjectKey", t.grantee_tenant_id AS "granteeTenantId" FROM taken t`,
);

interface GrantedFeed {
  granteeTenantId: string;
  grantorTenantId: string;
}

/** Locks the copy whose turn is next. Another process takes the following one. */
const TAKE_GRANTED = statement<NoParameters, GrantedFeed>(
  'feed_take_granted',
  `SELECT f.grantee_tenant_id AS "granteeTenantId", f.grantor_tenant_id AS "grantorTenantId"
  FROM granted_feeds f WHERE f.turn IS NOT NULL ORDER BY f.turn LIMIT 1 FOR UPDATE SKIP LOCKED`,
);

/**
 * Copies the next entries of a grantor into the feed of its grantee. It runs after the lock is acquired, so it sees each entry up
 * to `until_index`. It copies nothing for a grant that has ended; the next grant continues there.
 */
const COPY_GRANTED = statement<GrantedFeed & { most: number }>(
  'feed_copy_granted',
  `WITH job AS MATERIALIZED (
  SELECT f.*, (SELECT true FROM grants g
                WHERE ${isAcceptedGrantToAll('f.grantor_tenant_id', 'f.grantee_tenant_id')} LIMIT 1) IS TRUE AS is_live
    FROM granted_feeds f
   WHERE f.grantee_tenant_id = :granteeTenantId AND f.grantor_tenant_id = :grantorTenantId
), places AS MATERIALIZED (
  SELECT e.log_index
    FROM job f
   CROSS JOIN LATERAL (
     SELECT e.log_index
       FROM (SELECT t.last_index, t.log_indexes FROM tenant_feed t
              WHERE (t.tenant_id, t.last_index) >= (f.grantor_tenant_id, f.next_index)
                AND (t.tenant_id, t.last_index) < (f.grantor_tenant_id, f.until_index + ${BATCH}) AND f.is_live
              ORDER BY t.tenant_id, t.last_index LIMIT :most) t
      CROSS JOIN LATERAL unnest(t.log_indexes) AS e(log_index)
      WHERE e.log_index >= f.next_index AND e.log_index < f.until_index
      ORDER BY t.last_index, e.log_index LIMIT :most
   ) e
), copied AS (
  INSERT INTO shared_feed (tenant_id, log_index)
  SELECT f.grantee_tenant_id, e.log_index
    FROM job f
   CROSS JOIN places e
   CROSS JOIN LATERAL (SELECT * FROM log_entries k WHERE k.log_index = e.log_index LIMIT 1) k
    LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id LIMIT 1) h ON true
    LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id) LIMIT 1) g ON true
   WHERE k.entry_type IN (${LOG_ENTRY_NUMBERS['snapshot.created']}, ${LOG_ENTRY_NUMBERS['subject.erased']})
      OR (g.subject_key = 0 AND g.grantee_tenant_id = f.grantee_tenant_id AND g.accepted_at IS NOT NULL)
   ORDER BY 1, 2
      ON CONFLICT DO NOTHING
), come AS MATERIALIZED (
  SELECT count(*) = :most AS is_more, max(log_index) + 1 AS next_index FROM places
)
UPDATE granted_feeds f
   SET next_index = CASE WHEN c.is_more THEN c.next_index WHEN j.is_live THEN f.until_index ELSE f.next_index END,
       turn = CASE WHEN c.is_more THEN ${lastTurnOf('j.share')} + 1 END
  FROM job j CROSS JOIN come c
  WHERE f.grantee_tenant_id = :granteeTenantId AND f.grantor_tenant_id = :grantorTenantId`,
);

/** The result of one step of {@link FeedIntegrationStore.feed}. */
export interface FeedStep {
  /** The number of entries, from the first one on, that are in all feeds now. */
  size: number;
  /** True if the log has more entries. */
  isMore: boolean;
}

/** Adds the entries of the log to the feeds of the tenants that they concern. */
export class FeedIntegrationStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Adds the next entries of the log to the feeds, in one transaction. An entry goes to the
   * tenant that owns the fact, and to each tenant with a live grant on the subject. The grantee of a grant that was made, changed
   * or started also gets the earlier entries of the subject; for a grant on all subjects, {@link copy} adds those. Returns null while another process does
   * so.
   */
  feed(): Promise<FeedStep | null> {
    return this.sql.transaction(async (sql) => {
      const [feed] = await sql.run(TAKE_FEED, {});
      if (feed === undefined) return null;
      const { size: from, grantedSize, treeSize } = feed;
      const accepted = await sql.run(SEEK_ACCEPTED, { size: from, most: BATCH });
      const started = accepted.filter(({ subjectKey }) => subjectKey !== 0);
      if (started.length > 0) await sql.run(SHARE_EARLIER, { granted: started });
      if (accepted.length === BATCH) return { size: from, isMore: true };
      if (grantedSize < from) {
        await sql.run(SEEK_GRANTED, { from: grantedSize, to: Math.min(from, grantedSize + MAX_SEARCHED) });
        return { size: from, isMore: true };
      }
      if (from >= treeSize) return { size: from, isMore: false };
      const entries = withinRows(await sql.run(ENTRIES, { from, to: Math.min(treeSize, from + BATCH) }));
      const to = from + entries.length;
      if (entries.length === 0 || entries.at(-1)?.logIndex !== to - 1)
        throw new Error(`the log of ${treeSize} lacks entries from ${from} on`);
      if (entries.some((entry) => factOf(entry) === null && !entry.isInNoFeed)) await requireNothingHidden(sql);
      // Before the append, because `copy` also locks these rows first.
      await sql.run(SEEK_GRANTED, { from, to });
      await append(sql, entries, from, to);
      return { size: to, isMore: to < treeSize };
    });
  }

  /**
   * Copies older entries for one grant on all subjects into the feed of its grantee, and reads at most `most` of them. Any number
   * of processes may call it, and may end at any moment. Returns false if nothing is left to copy.
   */
  copy(most = MAX_COPIED): Promise<boolean> {
    return this.sql.transaction(async (sql) => {
      const [taken] = await sql.run(TAKE_GRANTED, {});
      if (taken !== undefined) await sql.run(COPY_GRANTED, { ...taken, most });
      return taken !== undefined;
    });
  }
}

/** Returns the first entries, at least one, that together do not write too many rows for readers. */
function withinRows(entries: EntryRow[]): EntryRow[] {
  let rows = 0;
  const end = entries.findIndex((entry, place) => {
    rows += rowsOf(entry);
    return place > 0 && rows > BATCH_ROWS;
  });
  return end === -1 ? entries : entries.slice(0, end);
}

function rowsOf(entry: EntryRow): number {
  const fact = factOf(entry);
  if (fact === null) return 0;
  switch (AUDIENCE[fact.type]) {
    case 'readers':
      return entry.readers < COUNTED_READERS ? entry.readers : BATCH_ROWS / 2;
    case 'grantee':
      return entry.versions;
    case 'nobody_else':
      return 0;
  }
}

async function append(sql: TransactionSql, entries: readonly EntryRow[], from: number, to: number): Promise<void> {
  const feeds = new Map<string, number[]>();
  const add = (tenantId: string, logIndex: number): void => {
    const feed = feeds.get(tenantId);
    if (feed === undefined) feeds.set(tenantId, [logIndex]);
    else feed.push(logIndex);
  };
  const read: ForReaders[] = [];
  const granted: ForGrantee[] = [];
  for (const entry of entries) {
    const { logIndex, subjectKey, granteeTenantId } = entry;
    const fact = factOf(entry);
    // The fact's row is missing from its table, which an audit reports. All other feeds continue.
    if (fact === null) continue;
    add(fact.tenantId, logIndex);
    switch (AUDIENCE[fact.type]) {
      case 'readers':
        if (subjectKey !== null && entry.readers > 0) read.push({ subjectKey, owner: fact.tenantId, logIndex });
        break;
      case 'grantee':
        if (granteeTenantId === null || !entry.isForGrantee) break;
        if (granteeTenantId !== fact.tenantId) add(granteeTenantId, logIndex);
        if (subjectKey !== null && fact.type !== 'grant.revoked') granted.push({ subjectKey, granteeTenantId });
        break;
      case 'nobody_else':
        break;
    }
  }
  const { isNext } = await sql.one(APPEND, { ...chunksOf(feeds), read, granted, from, to });
  if (!isNext) throw new Error(`the feed of ${from} entries was extended by another process`);
}

function chunksOf(feeds: ReadonlyMap<string, readonly number[]>): { logIndexes: number[]; chunks: Chunk[] } {
  const logIndexes: number[] = [];
  const chunks: Chunk[] = [];
  for (const [tenantId, feed] of feeds) {
    for (let at = 0; at < feed.length; at += CHUNK) {
      const chunk = feed.slice(at, at + CHUNK);
      const lastIndex = chunk.at(-1) ?? 0;
      chunks.push({ tenantId, lastIndex, first: logIndexes.length + 1, last: logIndexes.length + chunk.length });
      logIndexes.push(...chunk);
    }
  }
  return { logIndexes, chunks };
}
