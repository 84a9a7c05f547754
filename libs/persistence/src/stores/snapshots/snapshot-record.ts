import type { SubjectRef } from '@iss/domain';
import type { Columns } from '../../sql/columns';

/**
 * One stored snapshot. `envelope` is the canonical text that was hashed, null when only the header was asked for, and where it was
 * erased: then `erasure` says by what and when. Stores give a {@link SnapshotRow}, and `opened` makes this of it.
 */
export interface SnapshotRecord extends SubjectRef {
  snapshotId: string;
  snapshotVersion: number;
  generatedAt: string;
  createdAt: Date;
  envelopeHash: string | null;
  prevHash: string | null;
  /** The authenticated principal that wrote it, and the request; null where an earlier release wrote it. */
  writtenBy: string | null;
  writeRequestId: string | null;
  envelope: string | null;
  erasure: { erasureId: string; erasedAt: Date } | null;
}

declare const unopened: unique symbol;

/** A text as a row has it: `opened` (opened-text.ts) compares it with its hash before anybody gets it. */
export interface UnopenedText {
  readonly [unopened]: never;
}

/** A snapshot as a row has it. */
export interface SnapshotRow extends Omit<SnapshotRecord, 'envelope'> {
  envelope: UnopenedText | null;
}

/** Of the erasure of snapshot `n`: looked up for erased ones alone. */
const ofErasure = (column: string): string =>
  `CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.${column} FROM erasures er WHERE er.erasure_id = n.erasure_id LIMIT 1) END`;

/** Of the snapshot `n`: by what its content was erased, as `erasure?`. */
export const ERASURE_OF_SNAPSHOT = {
  'erasure?.erasureId': ofErasure('public_id'),
  'erasure?.erasedAt': ofErasure('erased_at'),
};

/** Columns of the snapshot `n` of subject `s`, with this envelope. */
export const snapshotColumns = (
  envelope = 'NULL::text',
): Columns<Omit<SnapshotRow, 'erasure'>> & typeof ERASURE_OF_SNAPSHOT => ({
  snapshotId: 'n.snapshot_id',
  subjectType: 's.subject_type',
  subjectId: 's.subject_id',
  snapshotVersion: 'n.snapshot_version',
  generatedAt: 'n.generated_at',
  createdAt: 'n.created_at',
  envelopeHash: `encode(n.envelope_hash, 'hex')`,
  prevHash: `encode(n.prev_hash, 'hex')`,
  writtenBy: 'n.written_by',
  writeRequestId: 'n.write_request_id',
  envelope,
  ...ERASURE_OF_SNAPSHOT,
});
