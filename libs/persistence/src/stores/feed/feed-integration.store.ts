import type { LogEntryType } from '@iss/domain';
import { requireNothingHidden } from '../../schema-faults';
import type { Sql, TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { FACT, FACT_OF_KEYS, factOf, type FactRow } from '../log/log-facts';
import { type FedEntry, grantOfEvent, type GrantOfEvent, tellOf } from './feed-events';
import { LIVE_GRANTS_ON } from './shared-with';

/** Entries of one batch at most. */
const BATCH = 2_000;
/** Rows that a batch writes for readers of subjects, unless a single entry has more of them. */
const BATCH_ROWS = 20_000;
/** Readers of a subject are counted so far; one with as many counts as if it had all that it may. */
const COUNTED_READERS = 100;
/** Entries in a row of a tenant's feed: what a page of the table still holds without compressing it. */
const CHUNK = 200;

/** Whom an entry is for, besides the tenant whose fact it is. */
const AUDIENCE: Record<LogEntryType, 'readers' | 'grantee' | 'nobody_else'> = {
  'snapshot.created': 'readers',
  'grant.created': 'grantee',
  'grant.changed': 'grantee',
  'grant.revoked': 'grantee',
  'tenant.owner_changed': 'nobody_else',
  'subject.erased': 'readers',
};

/** Only one goes on with the feed at a time; the others pass over it. */
const TAKE_FEED = statement<NoParameters, { size: number; beganAt: Date; treeSize: number }>(
  'feed_take',
  `SELECT f.size::float8 AS size, f.began_at AS "beganAt", t.size::float8 AS "treeSize"
  FROM log_feed f CROSS JOIN log_tree t
 WHERE f.is_one AND t.is_one FOR UPDATE OF f SKIP LOCKED`,
);

/** An entry with what is needed to know whose feeds it belongs to. */
interface EntryRow extends FactRow {
  logIndex: number;
  subjectKey: number | null;
  granteeTenantId: string | null;
  granted: GrantOfEvent | null;
  /** Live grants on the subject, as far as they are counted. */
  readers: number;
  /** Versions of the subject that are in the log. */
  versions: number;
}

const ENTRIES = statement<{ from: number; to: number }, EntryRow>(
  'feed_entries',
  `SELECT k.log_index::float8 AS "logIndex", s.subject_key::float8 AS "subjectKey", g.grantee_tenant_id AS "granteeTenantId",
  (SELECT count(*)::int FROM (SELECT FROM (${LIVE_GRANTS_ON('s.subject_key', 's.owner_tenant_id')}) g LIMIT ${COUNTED_READERS}) counted) AS readers,
  coalesce((SELECT e.snapshot_version FROM log_entries e
             WHERE e.subject_key = g.subject_key AND e.entry_type = 1
             ORDER BY e.snapshot_version DESC LIMIT 1), 0) AS versions,
  ${grantOfEvent()},
  ${FACT}
  FROM (SELECT * FROM log_entries WHERE log_index >= :from::bigint AND log_index < :to::bigint ORDER BY log_index) k
  ${FACT_OF_KEYS}
 ORDER BY k.log_index`,
);

interface Chunk {
  tenantId: string;
  lastIndex: number;
  /** Where its entries stand among all of them, from 1. */
  first: number;
  last: number;
}

/** An entry about a subject, for whoever may read that. */
interface ForReaders {
  subjectKey: number;
  owner: string;
  logIndex: number;
}

/** Who may read a subject from now on, and what was logged of it before. */
interface ForGrantee {
  subjectKey: number;
  granteeTenantId: string;
}

/** The feeds of all whom the entries concern, and how far that is: all of it or nothing. */
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
  SELECT i.tenant_id, e.log_index
    FROM unnest(:granted.subjectKey::bigint[], :granted.granteeTenantId::text[]) AS i(subject_key, tenant_id)
   CROSS JOIN LATERAL (SELECT e.log_index FROM log_entries e
                        WHERE e.subject_key = i.subject_key AND e.entry_type = 1 OFFSET 0) e
   UNION
  SELECT i.tenant_id, e.log_index
    FROM unnest(:granted.subjectKey::bigint[], :granted.granteeTenantId::text[]) AS i(subject_key, tenant_id)
   CROSS JOIN LATERAL (SELECT er.erasure_id FROM erasures er WHERE er.subject_key = i.subject_key OFFSET 0) er
   CROSS JOIN LATERAL (SELECT e.log_index FROM log_entries e WHERE e.erasure_id = er.erasure_id OFFSET 0) e
   ORDER BY 1, 2
      ON CONFLICT DO NOTHING
), grown AS (
  UPDATE log_feed SET size = :to::bigint WHERE is_one AND (size = :from::bigint) IS TRUE RETURNING 1
)
SELECT EXISTS (SELECT FROM grown) AS "isNext"`,
);

/** What one step of {@link FeedIntegrationStore.feed} did. */
export interface FeedStep {
  /** Entries, from the first one on, that are in all feeds now. */
  size: number;
  /** Whether the log has more. */
  isMore: boolean;
  /** Of events that were made, where subscriptions want them: the queue is to be told after the commit. */
  eventIds: string[];
}

/** How entries of the log come into the feeds of those whom they concern. */
export class FeedIntegrationStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Takes the next entries of the log into the feeds, in one transaction: for the tenant that owns what they are about, for
   * each that holds a live grant on the subject at this moment, and of a new grant for its grantee all that was logged of
   * the subject before. Makes the events of both sides in the same transaction. Null while another process does so.
   */
  feed(): Promise<FeedStep | null> {
    return this.sql.transaction(async (sql) => {
      const [feed] = await sql.run(TAKE_FEED, {});
      if (feed === undefined) return null;
      const { size: from, treeSize, beganAt } = feed;
      if (from >= treeSize) return { size: from, isMore: false, eventIds: [] };
      const entries = withinRows(await sql.run(ENTRIES, { from, to: Math.min(treeSize, from + BATCH) }));
      const to = from + entries.length;
      if (entries.length === 0 || entries.at(-1)?.logIndex !== to - 1)
        throw new Error(`the log of ${treeSize} has no entries from ${from} on`);
      if (entries.some((entry) => factOf(entry) === null)) await requireNothingHidden(sql);
      await append(sql, entries, from, to);
      const eventIds = await tellOf(sql, entries.flatMap(fedEntry), beganAt);
      return { size: to, isMore: to < treeSize, eventIds };
    });
  }
}

function fedEntry({ logIndex, subjectKey, granted, readers, ...row }: EntryRow): FedEntry[] {
  const fact = factOf(row);
  return fact === null ? [] : [{ logIndex, fact, subjectKey, granted, hasReaders: readers > 0 }];
}

/** As many of the entries, one at least, as do not write too many rows for their readers. */
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
    // Its row is gone from its table, which an audit says: the feeds of all others go on.
    if (fact === null) continue;
    add(fact.tenantId, logIndex);
    switch (AUDIENCE[fact.type]) {
      case 'readers':
        if (subjectKey !== null && entry.readers > 0) read.push({ subjectKey, owner: fact.tenantId, logIndex });
        break;
      case 'grantee':
        if (granteeTenantId === null) break;
        if (granteeTenantId !== fact.tenantId) add(granteeTenantId, logIndex);
        if (subjectKey !== null && fact.type !== 'grant.revoked') granted.push({ subjectKey, granteeTenantId });
        break;
      case 'nobody_else':
        break;
    }
  }
  const { isNext } = await sql.one(APPEND, { ...chunksOf(feeds), read, granted, from, to });
  if (!isNext) throw new Error(`the feed of ${from} entries was taken further by somebody else`);
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
