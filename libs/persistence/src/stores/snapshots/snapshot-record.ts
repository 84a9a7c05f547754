import type { SubjectRef } from '@iss/domain';
import type { Columns } from '../../sql/columns';

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

/** Columns of the snapshot `n` of subject `s`, with this envelope. */
export const snapshotColumns = (envelope = 'NULL::text'): Columns<SnapshotRecord> => ({
  snapshotId: 'n.snapshot_id',
  subjectType: 's.subject_type',
  subjectId: 's.subject_id',
  snapshotVersion: 'n.snapshot_version',
  generatedAt: 'n.generated_at',
  createdAt: 'n.created_at',
  envelopeHash: `encode(n.envelope_hash, 'hex')`,
  prevHash: `encode(n.prev_hash, 'hex')`,
  envelope,
});
