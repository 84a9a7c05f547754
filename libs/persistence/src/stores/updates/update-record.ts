import type { SubjectRef, UpdateStatus } from '@iss/domain';
import type { Columns } from '../../sql/columns';

/** A stored update. `patchOps` is canonical JSON text; null if it was erased with its base or the version that it made. */
export interface UpdateRecord extends SubjectRef {
  updateId: string;
  tenantId: string;
  baseSnapshotId: string;
  baseSnapshotVersion: number;
  patchOps: string | null;
  status: UpdateStatus;
  requestId: string | null;
  initiatedBy: string | null;
  proposedBy: string;
  createdAt: Date;
  appliedAt: Date | null;
  appliedSnapshotId: string | null;
  withdrawnAt: Date | null;
}

/** An update in a list, with the name of its subject. */
export interface ListedUpdate extends UpdateRecord {
  name: string | null;
}

/** Returns the columns of the update `u` of subject `s`. */
export const updateColumns = (u = 'u', s = 's'): Columns<UpdateRecord> => ({
  updateId: `${u}.update_id`,
  tenantId: `${u}.tenant_id`,
  subjectType: `${s}.subject_type`,
  subjectId: `${s}.subject_id`,
  baseSnapshotId: `${u}.base_snapshot_id`,
  baseSnapshotVersion: `${u}.base_snapshot_version`,
  patchOps: `${u}.patch_ops`,
  status: `${u}.status`,
  requestId: `${u}.request_id`,
  initiatedBy: `${u}.initiated_by`,
  proposedBy: `${u}.proposed_by`,
  createdAt: `${u}.created_at`,
  appliedAt: `${u}.applied_at`,
  appliedSnapshotId: `${u}.applied_snapshot_id`,
  withdrawnAt: `${u}.withdrawn_at`,
});
