import type { ChangeKind, SubjectRef, UpdateStatus } from '@iss/domain';

/** A stored update. `patchOps` is canonical JSON text; null if it was erased with its base or the version that it made. */
export interface UpdateRecord extends SubjectRef {
  updateId: string;
  tenantId: string;
  baseSnapshotId: string;
  baseSnapshotVersion: number;
  patchOps: string | null;
  changeKind: ChangeKind;
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
