import { DomainError } from '@iss/domain';
import { openSnapshot, type SnapshotRecord, type SnapshotRow } from '@iss/persistence';

/** Returned instead of an erased version, to a caller that could have read the version. */
export interface Erased {
  erasure_id: string;
  erased_at: string;
  snapshot_id: string;
  snapshot_version: number;
  envelope_hash: string | null;
  prev_hash: string | null;
  /** The log's entries of the version and of its erasure; absent unless a proof was requested. */
  proof?: ErasedProof;
}

/** The fields of an erased snapshot that are shown. */
interface ErasedSnapshot extends Pick<SnapshotRecord, 'snapshotId' | 'snapshotVersion' | 'envelopeHash' | 'prevHash'> {
  erasure: NonNullable<SnapshotRecord['erasure']>;
}

/**
 * The proof that remains of an erased version: its place in the log, without its entry, and the entry of the erasure.
 */
export interface ErasedProof {
  log_index: number;
  leaf_hash: string;
  /** The hashes, each in base64. */
  inclusion: string[];
  /** The proof that `…/erasures/{erasure_id}/log-proof` returns, against the same checkpoint. */
  erasure: object;
}

/** 410: the version existed, and its content was erased on purpose. */
export class ErasedError extends DomainError {
  constructor(readonly erased: Erased) {
    super(
      'erased',
      `Version ${erased.snapshot_version} was erased, and its content cannot be recovered. Its number, its hash ` +
        'and the proof of the erasure remain.',
    );
  }
}

/**
 * Opens a snapshot. Call it after the reader's right is decided. Throws `erased` if the content was erased, and
 * `damaged` if it differs from what was written.
 */
export function requireContent(snapshot: SnapshotRow, open = openSnapshot): SnapshotRecord {
  requireNotErased(snapshot);
  return open(snapshot);
}

/** Throws `erased` if the content of a snapshot was erased. */
export function requireNotErased(snapshot: SnapshotRow): void {
  const erased = erasedOf(snapshot);
  if (erased !== null) throw new ErasedError(erased);
}

/** Returns what is shown of an erased snapshot, or null for any other snapshot. */
function erasedOf(snapshot: SnapshotRow): Erased | null {
  const { erasure } = snapshot;
  return erasure === null ? null : erasedView({ ...snapshot, erasure });
}

export function erasedView({ erasure, ...snapshot }: ErasedSnapshot): Erased {
  return {
    erasure_id: erasure.erasureId,
    erased_at: erasure.erasedAt.toISOString(),
    snapshot_id: snapshot.snapshotId,
    snapshot_version: snapshot.snapshotVersion,
    envelope_hash: snapshot.envelopeHash,
    prev_hash: snapshot.prevHash,
  };
}
