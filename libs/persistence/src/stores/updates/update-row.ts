import type { SubjectRef, UpdateStatus } from '@iss/domain';

/** A stored proposal. `patchOps` is canonical JSON text. */
export interface UpdateRecord extends SubjectRef {
  updateId: string;
  tenantId: string;
  baseSnapshotId: string;
  baseSnapshotVersion: number;
  patchOps: string;
  status: UpdateStatus;
  requestId: string | null;
  initiatedBy: string | null;
  proposedBy: string;
  createdAt: Date;
  appliedAt: Date | null;
  appliedSnapshotId: string | null;
  withdrawnAt: Date | null;
}

/** The columns of {@link UPDATE_COLUMNS}; `update_id` is null where no update was found. */
export interface UpdateRow {
  update_id: string | null;
  update_tenant_id: string;
  subject_type: string;
  subject_id: string;
  base_snapshot_id: string;
  base_snapshot_version: number;
  patch_ops: string;
  status: UpdateStatus;
  request_id: string | null;
  initiated_by: string | null;
  proposed_by: string;
  update_created_at: Date;
  applied_at: Date | null;
  applied_snapshot_id: string | null;
  withdrawn_at: Date | null;
}

/** Of update `u` and its subject `s`. */
export const UPDATE_COLUMNS = `u.update_id, u.tenant_id AS update_tenant_id, s.subject_type, s.subject_id, u.base_snapshot_id,
  u.base_snapshot_version, u.patch_ops, u.status, u.request_id, u.initiated_by, u.proposed_by,
  u.created_at AS update_created_at, u.applied_at, u.applied_snapshot_id, u.withdrawn_at`;

export function toUpdate(row: UpdateRow): UpdateRecord | null {
  if (row.update_id === null) return null;
  return {
    updateId: row.update_id,
    tenantId: row.update_tenant_id,
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    baseSnapshotId: row.base_snapshot_id,
    baseSnapshotVersion: row.base_snapshot_version,
    patchOps: row.patch_ops,
    status: row.status,
    requestId: row.request_id,
    initiatedBy: row.initiated_by,
    proposedBy: row.proposed_by,
    createdAt: row.update_created_at,
    appliedAt: row.applied_at,
    appliedSnapshotId: row.applied_snapshot_id,
    withdrawnAt: row.withdrawn_at,
  };
}
