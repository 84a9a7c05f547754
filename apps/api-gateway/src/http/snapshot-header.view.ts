import type { SnapshotRecord } from '@iss/persistence';
import { HASH, named, object, type Schema, SUBJECT_TYPE, TIMESTAMP, UUID } from './openapi';

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
  subject: object({ subject_type: SUBJECT_TYPE, subject_id: { type: 'string' } }),
};
export const SNAPSHOT_HEADER_SCHEMA: Schema = named('SnapshotHeader', object(SNAPSHOT_HEADER_FIELDS));

export const SNAPSHOT_HEADER_EXAMPLE = {
  snapshot_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
  snapshot_version: 1,
  generated_at: '2026-01-15T09:30:00Z',
  created_at: '2026-01-15T09:30:00.412Z',
  envelope_hash: 'b1a0c7f5d7a3c5a7c7d3a9a4ec0f8f9fb7f6dc2d1d0f0b8e3d9a5d0c4b1f2e3a',
  prev_hash: null,
  subject: { subject_type: 'organization', subject_id: 'acme-corp' },
};
