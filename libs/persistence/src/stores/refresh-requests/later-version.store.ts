import { columns } from '../../sql/columns';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { originsOf, versionsBefore } from '../facts/joins';
import { snapshotColumns, type SnapshotRow } from '../snapshots/snapshot-record';

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

const LATER = statement<{ refreshRequestIds: readonly string[] }, LaterVersion>(
  'refresh_request_later_versions',
  `SELECT r.refresh_request_id AS "refreshRequestId", v.passed AS "askedAt", n.snapshot_id AS "snapshotId",
       n.snapshot_version AS "snapshotVersion", octet_length(n.envelope) AS "bytes"
  FROM unnest(:refreshRequestIds::uuid[]) i (refresh_request_id)
 CROSS JOIN LATERAL (SELECT * FROM refresh_requests r WHERE r.refresh_request_id = i.refresh_request_id LIMIT 1) r
 CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = r.subject_key
                      ORDER BY n.snapshot_version DESC LIMIT 1) n
  ${versionsBefore('r.subject_key', 'n.snapshot_version', 'r.created_at', 'v')}
 WHERE n.created_at >= r.created_at AND n.envelope IS NOT NULL`,
);

const TEXTS = statement<{ snapshotIds: readonly string[] }, VersionText>(
  'refresh_request_version_texts',
  `SELECT ${columns(snapshotColumns('n.envelope'))},
  ${originsOf('n.subject_key', 'n.snapshot_version')} AS origins
  FROM unnest(:snapshotIds::uuid[]) i (snapshot_id)
 CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1) n
 CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = n.subject_key LIMIT 1) s`,
);

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
