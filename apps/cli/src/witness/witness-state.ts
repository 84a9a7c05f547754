import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { decodeHash, encodeBase64, type TreeHead, witnessedCheckpointPath } from '@iss/tlog';
import { Failure } from '../command';

/** What the witness cosigned last of a log. */
export interface Witnessed extends TreeHead {
  /** The checkpoint with the log's signatures that were verified, and the witness's own. */
  readonly note: string;
}

/**
 * What was cosigned last of each log, in one SQLite file. A change is on the disk when `keep` returns, whole or not at all,
 * whenever the process or the machine ends; and no other process has the file open meanwhile.
 */
export class WitnessState {
  private readonly newestOf: StatementSync;
  private readonly noteAt: StatementSync;
  private readonly keepNewest: StatementSync;

  private constructor(private readonly database: DatabaseSync) {
    this.newestOf = database.prepare('SELECT size, root, note FROM witnessed WHERE origin = ?');
    this.noteAt = database.prepare('SELECT note FROM witnessed WHERE path = ?');
    // Nothing that asks may move a log back, whatever was decided before.
    this.keepNewest = database.prepare(
      `INSERT INTO witnessed (origin, path, size, root, note) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root, note = excluded.note
        WHERE witnessed.size < excluded.size OR (witnessed.size = excluded.size AND witnessed.root = excluded.root)`,
    );
  }

  /** Throws {@link Failure} for a file that is another process's, or none of a witness. */
  static open(path: string): WitnessState {
    try {
      const database = new DatabaseSync(path);
      // EXTRA also syncs the folder, so that not even a power failure takes back what was answered.
      database.exec(`
        PRAGMA locking_mode = EXCLUSIVE;
        PRAGMA synchronous = EXTRA;
        BEGIN EXCLUSIVE;
        CREATE TABLE IF NOT EXISTS witnessed (
          origin TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, root TEXT NOT NULL, note TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        COMMIT`);
      return new WitnessState(database);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Failure(
        `The state of the witness, ${path}, cannot be opened: ${why}. Each witness has a file of its own, and keeps it.`,
      );
    }
  }

  /** Null when nothing of that log was cosigned yet. */
  newest(origin: string): Witnessed | null {
    const row = this.newestOf.get(origin);
    if (row === undefined) return null;
    return { size: Number(row['size']), root: decodeHash(String(row['root']), 'root'), note: String(row['note']) };
  }

  /** The note that is shown at a path below the monitoring prefix; null when there is none. */
  shownAt(path: string): string | null {
    const row = this.noteAt.get(path);
    return row === undefined ? null : String(row['note']);
  }

  /** Returns when it is on the disk. Throws, and keeps what it has, when this would move the log back. */
  keep(origin: string, { size, root, note }: Witnessed): void {
    const { changes } = this.keepNewest.run(origin, witnessedCheckpointPath(origin), size, encodeBase64(root), note);
    if (changes !== 1) throw new Error(`the state has a newer checkpoint of ${origin} than one of ${size}`);
  }

  close(): void {
    this.database.close();
  }
}
