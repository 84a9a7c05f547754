import { type LogFact, type LogOwnFact } from '@iss/domain';
import { requireNothingHidden } from '../../schema-faults';
import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { factOf, type FactRow, ownFactOf, type OwnFactRow } from './log-facts';

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

/** A fact that becomes an entry. */
export type LoggedFact = LogFact | LogOwnFact;

/** The growth of the tree by a batch of facts. */
export interface LogGrowth {
  /** 16 bytes for each fact, in their order. */
  salts: Buffer;
  added: readonly LogTileAddition[];
  tree: LogTree;
}

/** The length of a SHA-256 hash. */
const HASH_BYTES = 32;

const TAKE_TREE = statement<NoParameters, LogTree & { takenAt: Date; isBackfilled: boolean }>('log_tree_take');

const TREE = statement<NoParameters, LogTree>('log_tree');

const EDGE = statement<{ size: number }, LogTile>('log_tiles_edge');

const WAITING = statement<{ limit: number }, FactRow & OwnFactRow & { waitingId: number }>('log_waiting_take');

const APPEND = statement<
  {
    size: number;
    waitingIds: readonly number[];
    salts: Buffer;
    /** Complete contents. A trigger refuses a tile that does not start with its existing hashes. */
    tiles: readonly LogTile[];
    newSize: number;
    root: Buffer;
  },
  { entries: number; isNext: boolean }
>('log_append');

const DROP = statement<{ waitingIds: readonly number[] }>('log_waiting_drop');

/** The result of one round of {@link LogIntegrationStore.integrate}. */
export interface LogRound {
  tree: LogTree;
  /** If a round leaves nothing waiting, everything that was committed before this moment is integrated. */
  takenAt: Date;
  integrated: number;
  /** The number of marks without a fact. */
  dropped: number;
  /** True while snapshots older than the log lack marks. They come first, so nothing is integrated until then. */
  awaitsBackfill: boolean;
}

/** Turns facts into entries of the tree. */
export class LogIntegrationStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Appends up to `limit` waiting facts in one transaction. Returns null while another process does so. `grow` receives the tree,
   * its incomplete tiles and the facts; it may be called more than once.
   */
  integrate(
    limit: number,
    grow: (tree: LogTree, edge: readonly LogTile[], facts: readonly LoggedFact[]) => Promise<LogGrowth>,
  ): Promise<LogRound | null> {
    return this.sql.transaction(async (sql) => {
      const [taken] = await sql.run(TAKE_TREE, {});
      if (taken === undefined) return null;
      const { isBackfilled, takenAt, ...tree } = taken;
      if (!isBackfilled) return { tree, takenAt, integrated: 0, dropped: 0, awaitsBackfill: true };
      const waiting = await sql.run(WAITING, { limit });
      const [facts, waitingIds, orphaned]: [LoggedFact[], number[], number[]] = [[], [], []];
      for (const row of waiting) {
        const fact = factOf(row) ?? ownFactOf(row);
        if (fact === null) orphaned.push(row.waitingId);
        else {
          facts.push(fact);
          waitingIds.push(row.waitingId);
        }
      }
      if (orphaned.length > 0) {
        await requireNothingHidden(sql);
        await sql.run(DROP, { waitingIds: orphaned });
      }
      if (facts.length === 0) return { tree, takenAt, integrated: 0, dropped: orphaned.length, awaitsBackfill: false };
      const { size } = tree;
      const edge = await sql.run(EDGE, { size });
      const { salts, added, tree: next } = await grow(tree, edge, facts);
      const { entries, isNext } = await sql.one(APPEND, {
        size,
        waitingIds,
        salts,
        tiles: added.map((addition) => wholeTile(edge, addition)),
        newSize: next.size,
        root: next.root,
      });
      if (entries !== facts.length || !isNext || next.size !== size + entries)
        throw new Error(`the log of ${size} took ${entries} of ${facts.length} entries`);
      return { tree: next, takenAt, integrated: entries, dropped: orphaned.length, awaitsBackfill: false };
    });
  }

  /** Returns the tree after the last complete round. */
  tree(): Promise<LogTree> {
    return this.sql.one(TREE, {});
  }
}

function wholeTile(edge: readonly LogTile[], { level, index, offset, hashes }: LogTileAddition): LogTile {
  const existing = edge.find((tile) => tile.level === level && tile.index === index)?.hashes ?? new Uint8Array(0);
  if (existing.length !== offset * HASH_BYTES)
    throw new Error(`tile ${level}/${index} has ${existing.length / HASH_BYTES} hashes and not ${offset}`);
  return { level, index, hashes: Buffer.concat([existing, hashes]) };
}
