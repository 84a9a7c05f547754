import type { OwnedSubject, OwnershipRecord } from '@iss/persistence';
import { named, object, type Schema, SUBJECT_TYPE, TIMESTAMP } from '../../http/describe/openapi';
import {
  SNAPSHOT_HEADER_EXAMPLE,
  SNAPSHOT_HEADER_SCHEMA,
  type SnapshotHeaderView,
  snapshotHeaderView,
} from '../../http/answer/snapshot-header.view';

/** One of the list of owned subjects (contract, "`GET …/subjects` (tenant)"). */
export interface SubjectView {
  subject_type: string;
  subject_id: string;
  created_at: string;
  latest_snapshot: SnapshotHeaderView;
}

export function subjectView(subject: OwnedSubject): SubjectView {
  return {
    subject_type: subject.subjectType,
    subject_id: subject.subjectId,
    created_at: subject.createdAt.toISOString(),
    latest_snapshot: snapshotHeaderView(subject.latest),
  };
}

/** Specification, "Subject": the ownership record. */
export interface OwnershipView {
  owner_tenant_id: string;
  subject_type: string;
  subject_id: string;
  created_at: string;
}

export function ownershipView(ownership: OwnershipRecord): OwnershipView {
  return {
    owner_tenant_id: ownership.ownerTenantId,
    subject_type: ownership.subjectType,
    subject_id: ownership.subjectId,
    created_at: ownership.createdAt.toISOString(),
  };
}

const SUBJECT_FIELDS: Record<string, Schema> = {
  subject_type: SUBJECT_TYPE,
  subject_id: { type: 'string' },
  created_at: TIMESTAMP,
};

export const SUBJECT = named('Subject', object({ ...SUBJECT_FIELDS, latest_snapshot: SNAPSHOT_HEADER_SCHEMA }));
export const OWNERSHIP = named('Ownership', object({ owner_tenant_id: { type: 'string' }, ...SUBJECT_FIELDS }));

const ACME_CORP = { ...SNAPSHOT_HEADER_EXAMPLE.subject, created_at: SNAPSHOT_HEADER_EXAMPLE.created_at };

export const SUBJECT_EXAMPLE: SubjectView = { ...ACME_CORP, latest_snapshot: SNAPSHOT_HEADER_EXAMPLE };
export const OWNERSHIP_EXAMPLE: OwnershipView = { owner_tenant_id: 'acme', ...ACME_CORP };
