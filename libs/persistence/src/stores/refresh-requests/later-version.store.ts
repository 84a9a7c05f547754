import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type SnapshotRow, type StoredRow } from '../snapshots/snapshot-record';
import { StoredTexts } from '../snapshots/stored-texts';

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

const TEXTS = statement<{ snapshotIds: readonly string[] }, StoredRow & Pick<VersionText, 'origins'>>(
  'refresh_request_version_texts',
);

/** Finds versions that were stored after refresh requests. The caller must have checked that the owner of the subjects reads. */
export class LaterVersionStore {
  private readonly stored: StoredTexts;

  constructor(private readonly sql: Sql) {
    this.stored = new StoredTexts(sql.archive);
  }

  /** Returns nothing for a request without a later version, or if the subject's latest version was erased. */
  find(refreshRequestIds: readonly string[]): Promise<LaterVersion[]> {
    return this.sql.run(LATER, { refreshRequestIds });
  }

  /** Returns the texts of versions. The caller must limit their total size. The owner `whose` takes turns with others. */
  async texts(whose: string, snapshotIds: readonly string[]): Promise<VersionText[]> {
    const rows = await this.sql.runInTurn(whose, TEXTS, { snapshotIds });
    const brought = await this.stored.bring(rows);
    return brought.map((row, index) => ({ ...row, origins: rows[index]?.origins ?? null }));
  }
}
