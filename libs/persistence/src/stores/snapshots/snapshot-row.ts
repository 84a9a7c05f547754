import type { SubjectRef } from '@iss/domain';

/** One stored snapshot. `envelope` is the canonical text that was hashed, null when only the header was asked for. */
export interface SnapshotRecord extends SubjectRef {
  snapshotId: string;
  snapshotVersion: number;
  generatedAt: string;
  createdAt: Date;
  envelopeHash: string | null;
  prevHash: string | null;
  envelope: string | null;
}

/** Columns of subject `s` and snapshot `n` that {@link toSnapshotRecord} reads beside `envelope`. */
export const SNAPSHOT_HEADER_COLUMNS = `s.subject_type, s.subject_id, n.snapshot_id, n.snapshot_version, n.generated_at, n.created_at,
  encode(n.envelope_hash, 'hex') AS envelope_hash, encode(n.prev_hash, 'hex') AS prev_hash`;

/** Null throughout where a left join found no snapshot. */
export interface SnapshotRow {
  subject_type: string | null;
  subject_id: string | null;
  snapshot_id: string | null;
  snapshot_version: number;
  generated_at: string;
  created_at: Date;
  envelope_hash: string | null;
  prev_hash: string | null;
  envelope: string | null;
}

/** The row as a record; null where there was no snapshot. */
export function toSnapshotRecord(row: SnapshotRow): SnapshotRecord | null {
  if (row.snapshot_id === null || row.subject_type === null || row.subject_id === null) return null;
  return {
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    snapshotId: row.snapshot_id,
    snapshotVersion: row.snapshot_version,
    generatedAt: row.generated_at,
    createdAt: row.created_at,
    envelopeHash: row.envelope_hash,
    prevHash: row.prev_hash,
    envelope: row.envelope,
  };
}
