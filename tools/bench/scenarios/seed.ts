import { SUBJECT_TYPE } from '../flows.ts';
import type { Server, Stage } from '../stage.ts';
import { type Bench, call, type Effort, GRANTEE, HUB, OWNER } from './scenario.ts';

/** The number of rows per statement. */
const BATCH = 50_000;

/** SQL that makes a canonical envelope of about 1.1 KB. */
const ENVELOPE = `
CREATE OR REPLACE FUNCTION bench_envelope(subject_id text, version int, snapshot_id uuid, generated_at text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT '{"attributes":{"legal":{"legal_name":"Bench AG"},"text":"' || repeat('x', 640) || '"},' ||
         '"audit":{"created_at":"2026-01-15T09:30:00Z","created_by":"bench","source":"bench"},' ||
         '"envelope_version":"entity_state_envelope_v1","evidence":[],"generated_at":"' || generated_at || '",' ||
         '"snapshot_id":"' || snapshot_id || '","snapshot_version":' || version ||
         ',"subject":{"subject_id":"' || subject_id || '","subject_type":"${SUBJECT_TYPE}"}}'
$$`;

/** Starts a gateway on a stage and creates the tenants of the bench. */
export async function openBenchOn(
  stage: Stage,
  effort: Effort,
  noOp: Server,
  env: Record<string, string> = {},
): Promise<Bench> {
  const bench: Bench = {
    stage,
    effort,
    gateway: await stage.startGateway(env),
    noOp,
    owner: await stage.authorization('owner'),
    grantee: await stage.authorization('grantee'),
  };
  await seedTenants(bench);
  return bench;
}

/** Creates two tenants, and a third one of the second principal, which may use grants in both of its tenants. */
async function seedTenants(bench: Bench): Promise<void> {
  await bench.stage.sql.query(ENVELOPE);
  await seedTenant(bench, bench.owner, OWNER);
  for (const tenantId of [GRANTEE, HUB]) {
    await seedTenant(bench, bench.grantee, tenantId);
    const self = encodeURIComponent('oidc:test#grantee');
    await call(bench, bench.grantee, 'PUT', `/v1/tenants/${tenantId}/principals/${self}`, {
      allow_counterparty_access: true,
    });
  }
}

export async function seedTenant(bench: Bench, headers: Record<string, string>, tenantId: string): Promise<void> {
  await call(bench, headers, 'POST', '/v1/tenants', { tenant_id: tenantId, name: tenantId });
}

/**
 * Inserts the subjects `prefix(after + 1)` to `prefix(upTo)` by SQL, each with a valid chain of `versions` snapshots. Their
 * recorded and effective times are a second apart.
 */
export async function seedSubjects(
  { stage }: Bench,
  {
    prefix,
    upTo,
    after = 0,
    versions = 1,
    tenantId = OWNER,
  }: { prefix: string; upTo: number; after?: number; versions?: number; tenantId?: string },
): Promise<void> {
  const batch = Math.max(1, Math.floor(BATCH / versions));
  for (let from = after; from < upTo; from += batch) {
    await stage.sql.query(
      `WITH subject AS (
         INSERT INTO subjects (subject_type, subject_id, owner_tenant_id)
         SELECT '${SUBJECT_TYPE}', $1 || i, $5 FROM generate_series($2::int, $3::int) i
         RETURNING subject_key, subject_id)
       INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, created_at, envelope_hash, prev_hash, envelope)
       SELECT subject_key, v, snapshot_id, $5, generated_at, now() - ($4 - v) * interval '1 second', hash,
              lag(hash) OVER (PARTITION BY subject_key ORDER BY v), envelope
         FROM subject s
        CROSS JOIN generate_series(1, $4::int) v
        CROSS JOIN LATERAL (SELECT md5(s.subject_id || '/' || v)::uuid AS snapshot_id OFFSET 0) i
        CROSS JOIN LATERAL (SELECT to_char(timestamp '2026-01-15 09:30' + (v - 1) * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS generated_at OFFSET 0) g
        CROSS JOIN LATERAL (SELECT bench_envelope(s.subject_id, v, i.snapshot_id, g.generated_at) AS envelope OFFSET 0) e
        CROSS JOIN LATERAL (SELECT sha256(convert_to(e.envelope, 'UTF8')) AS hash OFFSET 0) h`,
      [prefix, from + 1, Math.min(from + batch, upTo), versions, tenantId],
    );
  }
}

/** The number of tenants that share half of the grants. */
const CROWD = 10_000;

/** Inserts grants on the subjects `prefix(after + 1)` to `prefix(upTo)`: every second one for the hub, the others for a crowd. */
export async function seedGrants(
  { stage }: Bench,
  { prefix, upTo, after = 0 }: { prefix: string; upTo: number; after?: number },
): Promise<void> {
  for (let from = after; from < upTo; from += BATCH) {
    await stage.sql.query(
      `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
       SELECT gen_random_uuid(), s.owner_tenant_id, CASE i % 2 WHEN 0 THEN $4 ELSE 'crowd-' || i / 2 % ${CROWD} END,
              s.subject_key, '{read_latest,read_lineage}'
         FROM generate_series($2::int, $3::int) i
         JOIN subjects s ON s.subject_type = '${SUBJECT_TYPE}' AND s.subject_id = $1 || i`,
      [prefix, from + 1, Math.min(from + BATCH, upTo), HUB],
    );
  }
}

/** Inserts grants for one tenant on the first `count` subjects with this prefix. */
export async function grantTo(
  { stage }: Bench,
  tenantId: string,
  { prefix, count }: { prefix: string; count: number },
): Promise<void> {
  await stage.sql.query(
    `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
     SELECT gen_random_uuid(), s.owner_tenant_id, $1, s.subject_key, '{read_latest}'
       FROM generate_series(1, $3::int) i
       JOIN subjects s ON s.subject_type = '${SUBJECT_TYPE}' AND s.subject_id = $2 || i`,
    [tenantId, prefix, count],
  );
}

/** Vacuums the tables and runs a checkpoint, as PostgreSQL does itself some time after a seed. */
export async function settle({ stage }: Bench): Promise<void> {
  await stage.sql.query('VACUUM ANALYZE subjects, snapshots, grants, webhook_subscriptions');
  await stage.sql.query('CHECKPOINT');
}
