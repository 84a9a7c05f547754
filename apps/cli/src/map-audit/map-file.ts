import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { MapChange, RowReader, MapTableRow } from '@iss/map';
import { concatBytes, HASH_SIZE, type RightEdge } from '@iss/tlog';
import { Failure } from '../command';

/** How far a log was audited. */
export interface Audited {
  /** The public entries begin at this log index. */
  readonly startsAt: number;
  /** The tree of the audited entries. */
  readonly edge: RightEdge;
  /** The entries before this log index have keys. */
  readonly backfilledTo: number;
  /** The last audited entry is the root of the map. */
  readonly endsWithRoot: boolean;
}

/** The rebuilt map of one log in an SQLite file, which no other process can open meanwhile. It survives crashes. */
export class MapFile implements RowReader {
  private readonly tileAt: StatementSync;
  private readonly bucketAt: StatementSync;
  private readonly putTile: StatementSync;
  private readonly putBucket: StatementSync;
  private readonly deleteBucket: StatementSync;

  private constructor(private readonly database: DatabaseSync) {
    this.tileAt = database.prepare('SELECT path, content FROM map_tiles WHERE path = ?');
    this.bucketAt = database.prepare('SELECT path, content FROM map_buckets WHERE path = ?');
    this.putTile = database.prepare('INSERT OR REPLACE INTO map_tiles (path, content) VALUES (?, ?)');
    this.putBucket = database.prepare('INSERT OR REPLACE INTO map_buckets (path, content) VALUES (?, ?)');
    this.deleteBucket = database.prepare('DELETE FROM map_buckets WHERE path = ?');
  }

  /** @throws Failure if another process uses the file, or it is not a rebuilt map of this log */
  static open(path: string, origin: string): MapFile {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(path);
      database.exec(`
        PRAGMA locking_mode = EXCLUSIVE;
        PRAGMA synchronous = FULL;
        PRAGMA cache_size = -65536;
        BEGIN EXCLUSIVE;
        CREATE TABLE IF NOT EXISTS audited (
          origin TEXT PRIMARY KEY, starts_at INTEGER NOT NULL, size INTEGER NOT NULL, hashes BLOB NOT NULL,
          backfilled_to INTEGER NOT NULL, ends_with_root INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS map_tiles (path BLOB PRIMARY KEY, content BLOB NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS map_buckets (path BLOB PRIMARY KEY, content BLOB NOT NULL) STRICT, WITHOUT ROWID;
        COMMIT`);
      const other = database.prepare('SELECT origin FROM audited WHERE origin <> ?').get(origin);
      if (other !== undefined) throw new Error(`it is of the log ${String(other['origin'])}`);
      return new MapFile(database);
    } catch (error) {
      database?.close();
      const why = error instanceof Error ? error.message : String(error);
      throw new Failure(`The rebuilt map ${path} cannot be opened: ${why}. Each witness needs its own folder.`);
    }
  }

  /** Returns null before the first audit. */
  audited(): Audited | null {
    const row = this.database.prepare('SELECT * FROM audited').get();
    if (row === undefined) return null;
    const { hashes } = row;
    const bytes = hashes instanceof Uint8Array ? hashes : new Uint8Array(0);
    return {
      startsAt: Number(row['starts_at']),
      edge: {
        size: Number(row['size']),
        hashes: Array.from({ length: bytes.length / HASH_SIZE }, (_, at) =>
          bytes.slice(at * HASH_SIZE, (at + 1) * HASH_SIZE),
        ),
      },
      backfilledTo: Number(row['backfilled_to']),
      endsWithRoot: row['ends_with_root'] === 1,
    };
  }

  /** Runs work and saves all its changes at once, or none if it throws. One task at a time. */
  async atomically<T>(work: () => Promise<T>): Promise<T> {
    this.database.exec('BEGIN');
    try {
      const result = await work();
      this.database.exec('COMMIT');
      return result;
    } catch (error) {
      this.database.exec('ROLLBACK');
      throw error;
    }
  }

  /** Replaces the state. */
  keep(origin: string, { startsAt, edge, backfilledTo, endsWithRoot }: Audited): void {
    this.database
      .prepare('INSERT OR REPLACE INTO audited VALUES (?, ?, ?, ?, ?, ?)')
      .run(origin, startsAt, edge.size, concatBytes(...edge.hashes), backfilledTo, endsWithRoot ? 1 : 0);
  }

  /** Writes the changed rows of the map. */
  apply({ tiles, buckets, deletedBuckets }: MapChange): void {
    for (const path of deletedBuckets) this.deleteBucket.run(path);
    for (const { path, content } of tiles) this.putTile.run(path, content);
    for (const { path, content } of buckets) this.putBucket.run(path, content);
  }

  tiles(paths: readonly Uint8Array[]): Promise<MapTableRow[]> {
    return Promise.resolve(read(this.tileAt, paths));
  }

  buckets(paths: readonly Uint8Array[]): Promise<MapTableRow[]> {
    return Promise.resolve(read(this.bucketAt, paths));
  }

  close(): void {
    this.database.close();
  }
}

function read(statement: StatementSync, paths: readonly Uint8Array[]): MapTableRow[] {
  return paths.flatMap((wanted) => {
    const { path, content } = statement.get(wanted) ?? {};
    return path instanceof Uint8Array && content instanceof Uint8Array ? [{ path, content }] : [];
  });
}
