import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/** The view of a version, as it is stored. */
export interface StoredView {
  snapshotId: string;
  /** 32 bytes. Null after an erasure. */
  secret: Buffer | null;
  /** Lowercase hex SHA-256 of the payload. Null if the version was erased before it had a view. */
  hash: string | null;
}

/** A view that may become that of a version. */
export interface NewView {
  snapshotId: string;
  /** 32 random bytes. */
  secret: Buffer;
  /** SHA-256 of the payload. */
  hash: Buffer;
}

/** A version that waits for its log entry and has no view. */
export interface VersionWithoutView {
  snapshotId: string;
  text: string;
  envelopeHash: string;
  prevHash: string | null;
}

const FIND = statement<{ snapshotIds: readonly string[] }, StoredView>('views_find');

/** Also for the transaction that integrates the log. */
export const COMMIT_VIEWS = statement<{ views: readonly NewView[] }>('views_commit');

const MISSING = statement<
  { limit: number; bytes: number },
  { readAt: Date; total: number; version: VersionWithoutView | null }
>('views_missing');

/** The views of versions: the random secret and the hash that commit to each value of an envelope. */
export class ViewStore {
  constructor(private readonly sql: Sql) {}

  /** Returns the views of these versions by snapshot id. A version without one is left out. */
  async find(snapshotIds: readonly string[]): Promise<Map<string, StoredView>> {
    if (snapshotIds.length === 0) return new Map();
    return new Map((await this.sql.run(FIND, { snapshotIds })).map((view) => [view.snapshotId, view]));
  }

  /**
   * Stores views of versions that have none, and returns the stored views by snapshot id: another process may have stored one
   * first. An erased version gets none.
   */
  async commit(views: readonly NewView[]): Promise<Map<string, StoredView>> {
    if (views.length > 0) await this.sql.run(COMMIT_VIEWS, { views });
    return this.find(views.map(({ snapshotId }) => snapshotId));
  }

  /**
   * Reads versions without a view among the first `limit` facts that wait for the log, up to about `bytes` of text. `isMore` is
   * true if it left some out. All versions that were committed before `readAt` are considered.
   */
  async missing(
    limit: number,
    bytes: number,
  ): Promise<{ versions: VersionWithoutView[]; readAt: Date; isMore: boolean }> {
    const rows = await this.sql.run(MISSING, { limit, bytes });
    const versions = rows.map(({ version }) => version).filter((version) => version !== null);
    const [first] = rows;
    if (first === undefined) throw new Error('the statement views_missing returned no row');
    return { versions, readAt: first.readAt, isMore: versions.length < first.total };
  }
}
