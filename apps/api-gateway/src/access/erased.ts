import { DomainError } from '@iss/domain';
import { opened, type SnapshotRecord, type SnapshotRow } from '@iss/persistence';

/** What a caller that could have read an erased version is told instead. */
export interface Erased {
  erasure_id: string;
  erased_at: string;
  snapshot_id: string;
  snapshot_version: number;
  envelope_hash: string | null;
  prev_hash: string | null;
  /** Where the log has the version, and where it says that it was erased; absent unless a proof was asked for. */
  proof?: ErasedProof;
}

/** What of an erased snapshot is shown. */
interface ErasedSnapshot extends Pick<SnapshotRecord, 'snapshotId' | 'snapshotVersion' | 'envelopeHash' | 'prevHash'> {
  erasure: NonNullable<SnapshotRecord['erasure']>;
}

/** An erased version's place in the log without its entry, whose salt is destroyed, and the entry that says so. */
export interface ErasedProof {
  log_index: number;
  leaf_hash: string;
  /** Each hash in base64. */
  inclusion: string[];
  /** As `…/erasures/{erasure_id}/log-proof` answers it, against the same checkpoint. */
  erasure: object;
}

/** 410: what was asked for was there, and its content was erased on purpose. */
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
 * Opens a snapshot. Throws `erased` where its content is gone, and `damaged` where it is not the one that was written. Call
 * it after the reader's right is decided.
 */
export function requireContent(snapshot: SnapshotRow, open = opened): SnapshotRecord {
  requireThere(snapshot);
  return open(snapshot);
}

/** Throws `erased` where the content of a snapshot is gone. */
export function requireThere(snapshot: SnapshotRow): void {
  const erased = erasedOf(snapshot);
  if (erased !== null) throw new ErasedError(erased);
}

/** What is told of an erased snapshot; null of any other. */
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
