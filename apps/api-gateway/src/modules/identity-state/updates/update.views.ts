import type { SnapshotRecord, UpdateRecord } from '@iss/persistence';

/**
 * An update as JSON text, as both path families answer it (specification, "Update (proposal)"; contract, "Propose,
 * both"); its operations as they are stored.
 */
export function updateText(update: UpdateRecord): string {
  const members = JSON.stringify({
    update_id: update.updateId,
    subject_type: update.subjectType,
    subject_id: update.subjectId,
    base_snapshot_id: update.baseSnapshotId,
    base_snapshot_version: update.baseSnapshotVersion,
    status: update.status,
    request_id: update.requestId,
    initiated_by: update.initiatedBy,
    proposed_by: update.proposedBy,
    created_at: update.createdAt.toISOString(),
    applied_at: update.appliedAt?.toISOString() ?? null,
    applied_snapshot_id: update.appliedSnapshotId,
    withdrawn_at: update.withdrawnAt?.toISOString() ?? null,
  });
  return `${members.slice(0, -1)},"patch_ops":${update.patchOps}}`;
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
