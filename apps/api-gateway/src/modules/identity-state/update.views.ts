import { type JsonValue, parseStoredJson } from '@iss/domain';
import type { SnapshotRecord, UpdateRecord } from '@iss/persistence';

export interface UpdateView {
  update_id: string;
  subject_type: string;
  subject_id: string;
  base_snapshot_id: string;
  base_snapshot_version: number;
  patch_ops: JsonValue;
  status: string;
  request_id: string | null;
  initiated_by: string | null;
  proposed_by: string;
  created_at: string;
  applied_at: string | null;
  applied_snapshot_id: string | null;
}

/** A proposal as both path families answer it (specification, "Update (proposal)"; contract, "Propose, both"). */
export function updateView(update: UpdateRecord): UpdateView {
  return {
    update_id: update.updateId,
    subject_type: update.subjectType,
    subject_id: update.subjectId,
    base_snapshot_id: update.baseSnapshotId,
    base_snapshot_version: update.baseSnapshotVersion,
    patch_ops: parseStoredJson(update.patchOps),
    status: update.status,
    request_id: update.requestId,
    initiated_by: update.initiatedBy,
    proposed_by: update.proposedBy,
    created_at: update.createdAt.toISOString(),
    applied_at: update.appliedAt?.toISOString() ?? null,
    applied_snapshot_id: update.appliedSnapshotId,
  };
}

/** What applying answers on the subject-level path (specification, "Updates", variant B). */
export interface AppliedView {
  snapshot_id: string;
  snapshot_version: number;
  envelope_hash: string | null;
  prev_hash: string | null;
}

export function appliedView(snapshot: SnapshotRecord): AppliedView {
  return {
    snapshot_id: snapshot.snapshotId,
    snapshot_version: snapshot.snapshotVersion,
    envelope_hash: snapshot.envelopeHash,
    prev_hash: snapshot.prevHash,
  };
}
