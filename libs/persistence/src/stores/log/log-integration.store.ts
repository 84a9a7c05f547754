import type { LogRecordsFact, SubjectRef, WaitingRecord } from '@iss/domain';
import { requireNothingHidden } from '../../schema-faults';
import type { Sql, TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { COMMIT_VIEWS, type NewView } from '../snapshots/view.store';
import { type LoggedFact, loggedFactOf, type LoggedRow } from './log-facts';
import { type MapBatch, type MapGrowth, type MapIdentity, type MapRefusal, MapRound } from '../map/map-round';
import { MapReadStore } from '../map/map-read.store';
import { batchWaitingRecords, readWaitingRecords } from './record-batches';

/** The concatenated hashes of one tile (C2SP tlog-tiles). */
export interface LogTile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Uint8Array;
}

/** Hashes that are appended to a tile, at `offset`. If `offset` is 0, the tile is new. */
export interface LogTileAddition extends LogTile {
  readonly offset: number;
}

/** The log's tree: the number of leaves, and the RFC 6962 root hash. */
export interface LogTree {
  size: number;
  root: Buffer;
}

export type { LoggedFact } from './log-facts';

/** The growth of the tree by a batch of facts. */
export interface LogGrowth {
  /** 16 bytes for each fact, in their order. */
  salts: Buffer;
  added: readonly LogTileAddition[];
  tree: LogTree;
  /** Only with a map. A `map.root` entry is then the last leaf of the tree if the batch must end with one. */
  map?: MapGrowth;
}

/** Makes the leaves of a batch of facts. `edge` has the incomplete tiles of the tree; `batch` is null without a map. */
export type GrowLog = (
  tree: LogTree,
  edge: readonly LogTile[],
  facts: readonly LoggedFact[],
  batch: MapBatch | null,
) => Promise<LogGrowth>;

/** The length of a SHA-256 hash. */
const HASH_BYTES = 32;

/** Returns no row while another process holds the tree. */
export const TAKE_TREE = statement<NoParameters, LogTree & { takenAt: Date; isBackfilled: boolean }>('log_tree_take');

const TREE = statement<NoParameters, LogTree>('log_tree');

/** Reads the incomplete tiles. */
export const EDGE = statement<{ size: number }, LogTile>('log_tiles_edge');

const WAITING = statement<
  { limit: number },
  /** `withoutView` is the id of a snapshot that has a text and no view. */
  LoggedRow & { waitingId: number; granted: SubjectRef | null; withoutView: string | null }
>('log_waiting_take');

interface Append {
  size: number;
  waitingIds: readonly number[];
  /** True for each entry whose text names the view of its version. */
  namesView: readonly boolean[];
  salts: Buffer;
  /** Complete contents. A trigger refuses a tile that does not start with its existing hashes. */
  tiles: readonly LogTile[];
  newSize: number;
  root: Buffer;
}
interface Appended {
  entries: number;
  isNext: boolean;
}

const APPEND = statement<Append, Appended>('log_append');
const APPEND_KEYED = statement<Append & { prefixes: readonly Buffer[] }, Appended>('log_append_keyed');

const DROP = statement<{ waitingIds: readonly number[] }>('log_waiting_drop');

/** Facts that wait for their entries. */
export interface WaitingFacts {
  readonly facts: readonly LoggedFact[];
  /** The subject of each fact about a grant; null for other facts. It ends with the last fact that is no record. */
  readonly granted: readonly (SubjectRef | null)[];
}

/** The views of versions that wait for their entries. */
export interface PreparedViews {
  readonly views: readonly NewView[];
  /** The ids of snapshots that cannot have a view, because their text is no envelope. */
  readonly unfit: ReadonlySet<string>;
  /** All versions that were committed before this moment were considered. */
  readonly readAt: Date;
  /** True if some versions were left for the next round. */
  readonly isMore: boolean;
}

/** The result of one round of {@link LogIntegrationStore.integrate}. */
export interface LogRound {
  tree: LogTree;
  /** If a round leaves nothing waiting, everything that was committed before this moment is integrated. */
  takenAt: Date;
  integrated: number;
  /** The number of marks without a fact. */
  dropped: number;
  /** True if a full round of facts, records or views was taken, so that more may wait. */
  isMore: boolean;
  /** True while snapshots older than the log lack marks. They come first, so nothing is integrated until then. */
  awaitsBackfill: boolean;
  /**
   * True if the log has no complete map, or if its last entry is the root of the map. Only such a tree is published.
   */
  isWhole: boolean;
  /** Why this worker cannot integrate, or null. */
  refusal: MapRefusal | null;
  /** True if the log has a map, and all entries have keys. */
  hasMap: boolean;
}

/** Turns facts into entries of the tree. */
export class LogIntegrationStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Appends up to `limit` waiting facts in one transaction. Returns null while another process does so. `grow` may be called more
   * than once. The map of a log without entries is switched on if `identity` is given. With `views`, a version that has none, and
   * is not among them, waits for a later round.
   */
  integrate(
    limit: number,
    grow: GrowLog,
    identity: MapIdentity | null = null,
    views: PreparedViews | null = null,
  ): Promise<LogRound | null> {
    return this.sql.transaction(async (sql) => {
      const [taken] = await sql.run(TAKE_TREE, {});
      if (taken === undefined) return null;
      const { isBackfilled, takenAt, ...tree } = taken;
      const none = {
        ...{ tree, takenAt, integrated: 0, dropped: 0, isMore: false, awaitsBackfill: false },
        ...{ isWhole: false, refusal: null, hasMap: false },
      };
      if (!isBackfilled) return { ...none, awaitsBackfill: true };
      const map = await MapRound.open(sql, identity, tree.size);
      if (typeof map === 'string') return { ...none, refusal: map };

      const { missing, isMore: hasMoreRecords } = await batchWaitingRecords(sql);
      if (views !== null && views.views.length > 0) await sql.run(COMMIT_VIEWS, views);
      const { facts, waitingIds, granted, orphaned, hasMoreFacts, hasPostponed } = await takeWaiting(sql, limit, views);
      const dropped = orphaned + missing;
      const isMore = hasMoreFacts || hasMoreRecords || views?.isMore === true;
      const needsRoots = map?.isComplete === true;
      const endsWithRoot = needsRoots && !isMore && (facts.length > 0 || (await map.needsRoot(tree.size)));
      const completeAt = hasPostponed && views !== null ? views.readAt : takenAt;
      const round = {
        ...{ ...none, takenAt: completeAt, dropped, isMore },
        ...{ isWhole: !needsRoots || !isMore, hasMap: needsRoots },
      };
      if (facts.length === 0 && !endsWithRoot) return round;
      const batch = map && { map, granted, endsWithRoot };
      const next = await append(sql, tree, { facts, waitingIds, batch }, grow);
      return { ...round, tree: next, integrated: facts.length };
    });
  }

  /**
   * Reads the facts that the next round would take, without taking the tree. Records that are in no batch yet are a fact each.
   * Another process may integrate them first.
   */
  async waiting(limit: number): Promise<WaitingFacts> {
    const [rows, records] = [await this.sql.run(WAITING, { limit }), await readWaitingRecords(this.sql)];
    const waiting = rows.flatMap((row) => {
      const fact = loggedFactOf(row);
      return fact === null ? [] : [{ fact, granted: row.granted }];
    });
    const facts = [...waiting.map(({ fact }) => fact), ...records.map(recordsFactOf)];
    return { facts, granted: waiting.map(({ granted }) => granted) };
  }

  /** Returns the last number of each of these streams of the map that has one. */
  lastNumbers(streams: readonly string[]): Promise<Map<string, number>> {
    return new MapReadStore(this.sql).lastNumbers(streams);
  }

  /** Returns the tree after the last complete round. */
  tree(): Promise<LogTree> {
    return this.sql.one(TREE, {});
  }
}

/**
 * Takes up to `limit` waiting facts, and drops marks without a fact. Leaves versions that still need a view, and the later versions
 * of their subjects. A restart or a backfill keeps its order, so no fact overtakes such a version of it: `isHeldBack`.
 */
async function takeWaiting(sql: TransactionSql, limit: number, views: PreparedViews | null) {
  const waiting = await sql.run(WAITING, { limit });
  const [facts, granted]: [LoggedFact[], (SubjectRef | null)[]] = [[], []];
  const [waitingIds, orphaned]: [number[], number[]] = [[], []];
  const postponed = new Set<string>();
  let isHeldBack = false;
  for (const row of waiting) {
    const fact = loggedFactOf(row);
    const needsView = views !== null && row.withoutView !== null && !views.unfit.has(row.withoutView);
    isHeldBack = needsView && row.waitingId < 0;
    if (isHeldBack) break;
    const subject = fact?.type === 'snapshot.created' ? `${fact.subjectType}/${fact.subjectId}` : null;
    if (subject !== null && (needsView || postponed.has(subject))) postponed.add(subject);
    else if (fact === null) orphaned.push(row.waitingId);
    else {
      facts.push(fact);
      granted.push(row.granted);
      waitingIds.push(row.waitingId);
    }
  }
  if (orphaned.length > 0) {
    await requireNothingHidden(sql);
    await sql.run(DROP, { waitingIds: orphaned });
  }
  return {
    facts,
    granted,
    waitingIds,
    orphaned: orphaned.length,
    hasPostponed: postponed.size > 0,
    hasMoreFacts: isHeldBack || waiting.length >= limit,
  };
}

function recordsFactOf({ tenantId, ...waiting }: WaitingRecord): LogRecordsFact {
  return waiting.type === 'audit.recorded'
    ? { type: waiting.type, tenantId, records: [waiting.record] }
    : { type: waiting.type, tenantId, records: [waiting.record] };
}

interface Batch {
  facts: readonly LoggedFact[];
  waitingIds: readonly number[];
  batch: MapBatch | null;
}

/** Appends the entries of facts, and the keys and root of the map. Returns the new tree. */
async function append(sql: TransactionSql, tree: LogTree, { facts, waitingIds, batch }: Batch, grow: GrowLog) {
  const { size } = tree;
  const edge = await sql.run(EDGE, { size });
  const { salts, added, tree: next, map } = await grow(tree, edge, facts, batch);
  if ((batch === null) !== (map === undefined))
    throw new Error('entries have keys where the log has a map, and only there');
  const tiles = added.map((addition) => wholeTile(edge, addition));
  const namesView = facts.map((fact) => fact.type === 'snapshot.created' && fact.viewHash !== null);
  const appended = { size, waitingIds, namesView, salts, tiles, newSize: next.size, root: next.root };
  const { entries, isNext } = await (map === undefined
    ? sql.one(APPEND, appended)
    : sql.one(APPEND_KEYED, { ...appended, prefixes: map.prefixes }));
  const roots = batch?.endsWithRoot === true ? 1 : 0;
  if (entries !== facts.length || !isNext || next.size !== size + entries + roots)
    throw new Error(`the log of ${size} took ${entries} of ${facts.length} entries`);
  if (batch !== null && map !== undefined) await batch.map.write(map.rows, roots > 0 ? next.size - 1 : null);
  return next;
}

/** Returns the complete content of a tile. */
export function wholeTile(edge: readonly LogTile[], { level, index, offset, hashes }: LogTileAddition): LogTile {
  const existing = edge.find((tile) => tile.level === level && tile.index === index)?.hashes ?? new Uint8Array(0);
  if (existing.length !== offset * HASH_BYTES)
    throw new Error(`tile ${level}/${index} has ${existing.length / HASH_BYTES} hashes and not ${offset}`);
  return { level, index, hashes: Buffer.concat([existing, hashes]) };
}
