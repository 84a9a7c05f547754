import type { SnapshotRecord } from '@iss/persistence';
import { ErasedMark, type SnapshotHeader } from '@iss/contract';

/** Returns the same as `SnapshotHeader.of`, but faster, for the reads that carry nearly all the load. */
export function snapshotHeaderView(snapshot: Omit<SnapshotRecord, 'envelope'>): SnapshotHeader {
  const header = {
    snapshot_id: snapshot.snapshotId,
    snapshot_version: snapshot.snapshotVersion,
    generated_at: snapshot.generatedAt,
    change_kind: snapshot.changeKind,
    created_at: snapshot.createdAt.toISOString(),
    envelope_hash: snapshot.envelopeHash,
    prev_hash: snapshot.prevHash,
    written_by: snapshot.writtenBy,
    write_request_id: snapshot.writeRequestId,
    subject: { subject_type: snapshot.subjectType, subject_id: snapshot.subjectId },
  };
  const { erasure } = snapshot;
  return erasure === null ? header : { ...header, erased: ErasedMark.of(erasure) };
}
