import type { Client } from 'pg';

export interface LineageOwner {
  tenantId: string;
  subjectType: string;
  subjectId: string;
}

/**
 * Inserts a subject with a valid chain of `count` snapshots in one statement. Each envelope is valid and canonical, and has an
 * attribute of `padding` characters.
 */
export async function addLineage(superuser: Client, owner: LineageOwner, count: number, padding = 0): Promise<void> {
  const before = `{"attributes":{"padding":"${'x'.repeat(padding)}"},"audit":{"created_at":"2026-01-15T09:30:00Z","created_by":"importer","source":"test"},"envelope_version":"entity_state_envelope_v1","evidence":[],"generated_at":"2026-01-15T09:30:00Z","snapshot_id":"`;
  const subject = { subject_id: owner.subjectId, subject_type: owner.subjectType };
  await superuser.query(
    `WITH subject AS (
       INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) VALUES ($1, $2, $3) RETURNING subject_key
     ), ids AS MATERIALIZED (
       SELECT version, gen_random_uuid() AS id FROM generate_series(1, $4::int) version
     ), texts AS MATERIALIZED (
       SELECT version, id, $5::text || id || '","snapshot_version":' || version || $6::text AS envelope FROM ids
     ), hashed AS MATERIALIZED (
       SELECT *, sha256(convert_to(envelope, 'UTF8')) AS hash FROM texts
     )
     INSERT INTO snapshots
       (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, prev_hash, envelope)
     SELECT subject_key, version, id, $3, '2026-01-15T09:30:00Z', hash, lag(hash) OVER (ORDER BY version), envelope
       FROM subject, hashed`,
    [owner.subjectType, owner.subjectId, owner.tenantId, count, before, `,"subject":${JSON.stringify(subject)}}`],
  );
}
