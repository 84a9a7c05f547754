import type { SnapshotRecord } from '@iss/persistence';
import { HASH, named, object, type Schema, SUBJECT_REF, TIMESTAMP, UUID } from '../describe/openapi';

/** Specification, "Snapshot header". */
export interface SnapshotHeaderView {
  snapshot_id: string;
  snapshot_version: number;
  generated_at: string;
  created_at: string;
  envelope_hash: string | null;
  prev_hash: string | null;
  subject: { subject_type: string; subject_id: string };
}

export function snapshotHeaderView(snapshot: Omit<SnapshotRecord, 'envelope'>): SnapshotHeaderView {
  return {
    snapshot_id: snapshot.snapshotId,
    snapshot_version: snapshot.snapshotVersion,
    generated_at: snapshot.generatedAt,
    created_at: snapshot.createdAt.toISOString(),
    envelope_hash: snapshot.envelopeHash,
    prev_hash: snapshot.prevHash,
    subject: { subject_type: snapshot.subjectType, subject_id: snapshot.subjectId },
  };
}

export const SNAPSHOT_HEADER_FIELDS: Record<string, Schema> = {
  snapshot_id: UUID,
  snapshot_version: { type: 'integer', minimum: 1 },
  generated_at: TIMESTAMP,
  created_at: TIMESTAMP,
  envelope_hash: HASH,
  prev_hash: HASH,
  subject: SUBJECT_REF,
};
export const SNAPSHOT_HEADER_SCHEMA: Schema = named('SnapshotHeader', object(SNAPSHOT_HEADER_FIELDS));

export const SNAPSHOT_HEADER_EXAMPLE = {
  snapshot_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
  snapshot_version: 1,
  generated_at: '2026-01-15T09:30:00Z',
  created_at: '2026-01-15T09:30:00.412Z',
  envelope_hash: '7f7a5c035d5a56b5d92ddadec43024c52df4b84732b65ede244cac8976519219',
  prev_hash: null,
  subject: { subject_type: 'organization', subject_id: 'acme-corp' },
};
