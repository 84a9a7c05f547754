import { backfillEntries, mapStartText, type SubjectRef } from '@iss/domain';
import { requireNothingHidden } from '../../schema-faults';
import type { Sql, TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { type LoggedFact, loggedFactOf, type LoggedRow } from '../log/log-facts';
import { EDGE, type LogGrowth, type LogTile, type LogTree, TAKE_TREE, wholeTile } from '../log/log-integration.store';
import { KEY_PREFIX_BYTES, MapReadStore, toBuffer } from './map-read.store';
import { type MapIdentity, MapRound, type MapRows, SWITCH_ON, takeNumbers } from './map-round';

/** The entries of a public bundle. Those with keys begin with a whole one. */
const BUNDLE = 256;
/** Facts that are counted per step, and the entries among which they are sought. */
const COUNTED = 4_096;
const COUNTED_RANGE = 16_384;
/** Facts that get keys per step: a fraction of a second on two cores. */
const STEP = 1_024;
/** How often, and after which pause, a step tries to take the tree. It must not wait for it, because a restart of the log waits for this step. */
const TRIES = 200;
const PAUSE_MS = 5;

/** A number of a stream. */
interface StreamNumber {
  readonly stream: string;
  readonly number: number;
}

/** Makes keys and leaves of entries from before the map. */
export interface BackfillMaker {
  /** Returns the streams that a fact extends. `number` is null if the log counts it. */
  streamsOf(
    fact: LoggedFact,
    granted: SubjectRef | null,
  ): readonly { readonly stream: string; readonly number: number | null }[];
  keysOf(numbers: readonly StreamNumber[]): Promise<readonly Uint8Array[]>;
  insert(keys: readonly { key: Uint8Array; logIndex: number }[], map: MapRound): Promise<MapRows>;
  /** Appends public texts to the tree. */
  append(tree: LogTree, edge: readonly LogTile[], texts: readonly string[]): Promise<Pick<LogGrowth, 'added' | 'tree'>>;
}

/**
 * The result of a step: `off` if the map cannot be switched on here; `busy` while another worker has the turn or the tree; `more` if
 * further steps are needed; `complete` if all entries have keys.
 */
export type BackfillStep = 'off' | 'busy' | 'more' | 'complete';

interface Older {
  readonly logIndex: number;
  /** Null for an entry that names no fact. */
  readonly fact: LoggedFact | null;
  readonly granted: SubjectRef | null;
}

type OlderRow = LoggedRow & {
  logIndex: number;
  entryType: number;
  recordCount: number | null;
  granted: SubjectRef | null;
};
interface Range {
  from: number;
  until: number;
  limit: number;
}
interface Appended {
  entries: number;
  isNext: boolean;
}
interface Append {
  size: number;
  newSize: number;
  root: Buffer;
  tiles: readonly LogTile[];
}

const TAKE_TURN = statement<NoParameters, { isTaken: boolean }>('map_turn_take');
const NUMBERED = statement<Range, OlderRow>('map_facts_numbered');
const OLDER = statement<Range, OlderRow>('map_facts_older');
const BEGIN_COUNTING = statement<NoParameters>('map_counting_begin');
const COUNTING = statement<NoParameters, { countedTo: number }>('map_counting');
const MOVE_COUNTING = statement<{ countedTo: number }>('map_counting_move');
const END_COUNTING = statement<NoParameters>('map_counting_end');
const APPEND_START = statement<Append, Appended>('map_start_append');
const APPEND_BACKFILL = statement<
  Append & { entries: readonly { from: number; counts: Buffer; prefixes: Buffer }[] },
  Appended
>('map_backfill_append');
const BACKFILLED = statement<{ streams: readonly string[] }, { stream: string; last: number }>('map_backfilled');
const MOVE_BACKFILLED = statement<
  { numbers: readonly { stream: string; last: number }[]; from: number; backfilledTo: number },
  { isMoved: boolean }
>('map_backfilled_move');

/** Switches the map on in a log that has entries, and gives them keys, in small steps. */
export class MapBackfillStore {
  constructor(private readonly sql: Sql) {}

  /** Does one step, unless another worker does. */
  step(identity: MapIdentity, maker: BackfillMaker): Promise<BackfillStep> {
    return this.sql.transaction(async (sql) => {
      if ((await sql.run(TAKE_TURN, {})).length === 0) return 'busy';
      const state = await new MapReadStore(sql).state();
      if (state === null) return count(sql, identity, maker);
      if (state.origin !== identity.origin || state.vrfKey !== identity.vrfKey) return 'off';
      if (state.backfilledTo === state.startsAt) return 'complete';
      return backfill(sql, identity, maker, { from: state.backfilledTo, until: state.startsAt });
    });
  }
}

/**
 * Counts the next facts of each stream, so that later facts get later numbers. After the last one, switches the map on in the same
 * transaction.
 */
async function count(sql: TransactionSql, identity: MapIdentity, maker: BackfillMaker): Promise<BackfillStep> {
  const [tree] = await sql.run(TAKE_TREE, {});
  if (tree === undefined) return 'busy';
  const { size } = tree;
  if (size === 0 || !tree.isBackfilled || (await new MapReadStore(sql).state()) !== null) return 'off';
  await sql.run(BEGIN_COUNTING, {});
  const { countedTo } = await sql.one(COUNTING, {});
  const until = Math.min(countedTo + COUNTED_RANGE, size);
  const entries = await olderOf(sql, NUMBERED, { from: countedTo, until, limit: COUNTED });
  const counts = new Map<string, number>();
  for (const { stream } of entries.flatMap((entry) => streamsOf(maker, entry)))
    counts.set(stream, (counts.get(stream) ?? 0) + 1);
  await takeNumbers(sql, counts);
  const last = entries.at(-1);
  const next = last === undefined ? until : last.logIndex + 1;
  if (next < size) {
    await sql.run(MOVE_COUNTING, { countedTo: next });
    return 'more';
  }
  const startsAt = Math.ceil(size / BUNDLE) * BUNDLE;
  if ((await sql.run(SWITCH_ON, { ...identity, startsAt })).length === 0) return 'off';
  await sql.run(END_COUNTING, {});
  if (startsAt > size) {
    const text = mapStartText(startsAt, identity.vrfKey);
    await append(
      sql,
      tree,
      maker,
      Array.from({ length: startsAt - size }, () => text),
      (appended) => sql.one(APPEND_START, appended),
    );
  }
  return 'more';
}

/** Gives keys to the next entries from before the map. */
async function backfill(
  sql: TransactionSql,
  identity: MapIdentity,
  maker: BackfillMaker,
  { from, until }: { from: number; until: number },
): Promise<BackfillStep> {
  const entries = await olderOf(sql, OLDER, { from, until, limit: STEP });
  const { numbers, last } = await numbersOf(
    sql,
    entries.map((entry) => streamsOf(maker, entry)),
  );
  const made = await maker.keysOf(numbers.flat());
  let used = 0;
  const keys = numbers.map(({ length }) => made.slice(used, (used += length)));

  const tree = await takeTree(sql);
  if (tree === null) return 'busy';
  const map = await MapRound.open(sql, identity, tree.size);
  if (!(map instanceof MapRound)) return 'off';
  const added = keys.flatMap((ofEntry, place) => ofEntry.map((key) => ({ key, logIndex: from + place })));
  const rows = await maker.insert(added, map);
  const written = backfillEntries(from, keys);
  const texts = written.map(({ text }) => text);
  await append(sql, tree, maker, texts, (appended) =>
    sql.one(APPEND_BACKFILL, {
      ...appended,
      entries: written.map((entry) => ({
        from: entry.from,
        counts: countsOf(entry.keys),
        prefixes: Buffer.concat(entry.keys.flat().map((key) => toBuffer(key).subarray(0, KEY_PREFIX_BYTES))),
      })),
    }),
  );
  await map.write(rows, null);
  const backfilledTo = from + entries.length;
  const moved = await sql.run(MOVE_BACKFILLED, {
    numbers: [...last]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([stream, number]) => ({ stream, last: number })),
    from,
    backfilledTo,
  });
  if (moved.length === 0) throw new Error(`the keys of entries from ${from} on were given twice`);
  return backfilledTo === until ? 'complete' : 'more';
}

async function olderOf(sql: TransactionSql, read: typeof OLDER, range: Range): Promise<Older[]> {
  const rows = await sql.run(read, range);
  const missing = rows.find(isFactMissing);
  if (missing !== undefined) {
    await requireNothingHidden(sql);
    throw new Error(`entry ${missing.logIndex} of the log names a fact that is missing from its table: run iss audit`);
  }
  return rows.map((row) => ({ logIndex: row.logIndex, fact: loggedFactOf(row), granted: row.granted }));
}

/** The type of an entry that only fills the tree. */
const MAP_START = 13;

function isFactMissing(row: OlderRow): boolean {
  const fact = loggedFactOf(row);
  if (fact === null) return row.entryType !== MAP_START;
  return 'records' in fact && fact.records.length !== row.recordCount;
}

function streamsOf(maker: BackfillMaker, { fact, granted }: Older) {
  return fact === null ? [] : maker.streamsOf(fact, granted);
}

/** Returns the numbers of each entry's streams, and the last number of each stream that the log counts. */
async function numbersOf(
  sql: TransactionSql,
  places: readonly (readonly { readonly stream: string; readonly number: number | null }[])[],
): Promise<{ numbers: StreamNumber[][]; last: Map<string, number> }> {
  const streams = [...new Set(places.flat().flatMap(({ stream, number }) => (number === null ? [stream] : [])))];
  const last = new Map((await sql.run(BACKFILLED, { streams })).map(({ stream, last: number }) => [stream, number]));
  const numbers = places.map((ofEntry) =>
    ofEntry.map(({ stream, number }) => {
      if (number !== null) return { stream, number };
      const next = (last.get(stream) ?? 0) + 1;
      last.set(stream, next);
      return { stream, number: next };
    }),
  );
  return { numbers, last };
}

/** Takes the tree, or returns null if it is not free within a second. */
async function takeTree(sql: TransactionSql): Promise<LogTree | null> {
  for (let left = TRIES; left > 0; left--) {
    const [tree] = await sql.run(TAKE_TREE, {});
    if (tree !== undefined) return tree;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return null;
}

/** Appends public entries, which name no fact. */
async function append(
  sql: TransactionSql,
  tree: LogTree,
  maker: BackfillMaker,
  texts: readonly string[],
  store: (appended: Append) => Promise<Appended>,
): Promise<void> {
  const { size } = tree;
  const edge = await sql.run(EDGE, { size });
  const { added, tree: next } = await maker.append(tree, edge, texts);
  const tiles = added.map((addition) => wholeTile(edge, addition));
  const { entries, isNext } = await store({ size, newSize: next.size, root: next.root, tiles });
  if (entries !== texts.length || !isNext || next.size !== size + entries)
    throw new Error(`the log of ${size} took ${entries} of ${texts.length} entries`);
}

function countsOf(keys: readonly (readonly Uint8Array[])[]): Buffer {
  const counts = Buffer.alloc(2 * keys.length);
  keys.forEach(({ length }, place) => counts.writeUInt16BE(length, 2 * place));
  return counts;
}
