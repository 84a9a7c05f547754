import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type SnapshotRow } from '../snapshots/snapshot-record';

/** The latest version of a request's subject, if it was stored after the request. */
export interface LaterVersion {
  refreshRequestId: string;
  /** The latest version at the time of the request. */
  askedAt: number;
  snapshotId: string;
  snapshotVersion: number;
  /** The size of its envelope. */
  bytes: number;
}

/** A version with the origins of its leaves. */
export interface VersionText extends SnapshotRow {
  /** Encoded by `encodeOrigins`; null if they are unknown. */
  origins: Buffer | null;
}

const LATER = statement<{ refreshRequestIds: readonly string[] }, LaterVersion>('refresh_request_later_versions');

const TEXTS = statement<{ snapshotIds: readonly string[] }, VersionText>('refresh_request_version_texts');

/** Finds versions that were stored after refresh requests. The caller must have checked that the owner of the subjects reads. */
export class LaterVersionStore {
  constructor(private readonly sql: Sql) {}

  /** Returns nothing for a request without a later version, or if the subject's latest version was erased. */
  find(refreshRequestIds: readonly string[]): Promise<LaterVersion[]> {
    return this.sql.run(LATER, { refreshRequestIds });
  }

  /** Returns the texts of versions. The caller must limit their total size. The owner `whose` takes turns with others. */
  texts(whose: string, snapshotIds: readonly string[]): Promise<VersionText[]> {
    return this.sql.runInTurn(whose, TEXTS, { snapshotIds });
  }
}
