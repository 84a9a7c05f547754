import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { decodeHash, encodeBase64, type TreeHead, witnessedCheckpointPath } from '@iss/tlog';
import { Failure } from '../command';

/** The last cosigned checkpoint of a log. */
export interface Witnessed extends TreeHead {
  /** The checkpoint with the verified signatures of the log and those of the witness. */
  readonly note: string;
}

/**
 * Stores the last cosigned checkpoint of each log in an SQLite file, which no other process can open meanwhile. Changes are atomic and
 * survive a crash of the process or machine.
 */
export class WitnessState {
  private readonly newestOf: StatementSync;
  private readonly noteAt: StatementSync;
  private readonly keepNewest: StatementSync;

  private constructor(private readonly database: DatabaseSync) {
    this.newestOf = database.prepare('SELECT size, root, note FROM witnessed WHERE origin = ?');
    this.noteAt = database.prepare('SELECT note FROM witnessed WHERE path = ?');
    // The statement itself refuses to move a log back.
    this.keepNewest = database.prepare(
      `INSERT INTO witnessed (origin, path, size, root, note) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root, note = excluded.note
        WHERE witnessed.size < excluded.size OR (witnessed.size = excluded.size AND witnessed.root = excluded.root)`,
    );
  }

  /** @throws Failure if another process uses the file, or it is not a witness state */
  static open(path: string): WitnessState {
    try {
      const database = new DatabaseSync(path);
      // EXTRA also syncs the folder, so that a power failure cannot undo an answer.
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
      throw new Failure(`The witness state ${path} cannot be opened: ${why}. Each witness needs its own file.`);
    }
  }

  /** Returns null if no checkpoint of the log was cosigned yet. */
  newest(origin: string): Witnessed | null {
    const row = this.newestOf.get(origin);
    if (row === undefined) return null;
    return { size: Number(row['size']), root: decodeHash(String(row['root']), 'root'), note: String(row['note']) };
  }

  /** Returns the note for a path below the monitoring prefix; null if there is none. */
  shownAt(path: string): string | null {
    const row = this.noteAt.get(path);
    return row === undefined ? null : String(row['note']);
  }

  /** Saves a checkpoint to disk. Throws without a change if it would move the log back. */
  keep(origin: string, { size, root, note }: Witnessed): void {
    const { changes } = this.keepNewest.run(origin, witnessedCheckpointPath(origin), size, encodeBase64(root), note);
    if (changes !== 1) throw new Error(`the state has a newer checkpoint of ${origin} than size ${size}`);
  }

  close(): void {
    this.database.close();
  }
}
