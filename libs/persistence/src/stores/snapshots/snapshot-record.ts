import type { SubjectRef } from '@iss/domain';
import type { Columns } from '../../sql/columns';

/**
 * A stored snapshot. `envelope` is the canonical text that was hashed. It is null if only the header was requested, and after an
 * erasure, which `erasure` identifies. Stores return a {@link SnapshotRow}, and `opened` converts it to this.
 */
export interface SnapshotRecord extends SubjectRef {
  snapshotId: string;
  snapshotVersion: number;
  generatedAt: string;
  createdAt: Date;
  envelopeHash: string | null;
  prevHash: string | null;
  /** The authenticated principal that wrote it, and the request. Both are null if an earlier release wrote it. */
  writtenBy: string | null;
  writeRequestId: string | null;
  envelope: string | null;
  erasure: { erasureId: string; erasedAt: Date } | null;
}

declare const unopened: unique symbol;

/** A text from a row. `opened` (opened-text.ts) compares it with its hash before anybody may use it. */
export interface UnopenedText {
  readonly [unopened]: never;
}

/** A snapshot as stores return it. */
export interface SnapshotRow extends Omit<SnapshotRecord, 'envelope'> {
  envelope: UnopenedText | null;
}

/** Selects a column of the erasure of snapshot `n`. It looks it up for erased snapshots only. */
const ofErasure = (column: string): string =>
  `CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.${column} FROM erasures er WHERE er.erasure_id = n.erasure_id LIMIT 1) END`;

/** The columns of the erasure of snapshot `n`, as `erasure?`. */
export const ERASURE_OF_SNAPSHOT = {
  'erasure?.erasureId': ofErasure('public_id'),
  'erasure?.erasedAt': ofErasure('erased_at'),
};

/** Returns the columns of the snapshot `n` of subject `s`, with this envelope. */
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
