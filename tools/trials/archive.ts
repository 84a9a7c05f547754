import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../testing/wait-for.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { TrialPostgres } from './frame/postgres.ts';
import { iss, TENANT, TrialService } from './frame/service.ts';
import { TrialSwift } from './frame/swift.ts';
import { runTrial } from './frame/trial.ts';

/**
 * `npm run trial -- archive`: moves old versions to OpenStack Swift through its S3 interface, while a writer writes and
 * readers read. Meanwhile workers are killed, the store is stopped, hangs and returns wrong bytes, and versions are
 * erased.
 */
const SUBJECTS = 500;
const VERSIONS = 20;
const KILLS = 4;
const SEED = `
WITH s AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id)
  SELECT 'organization', $4 || i, $1 FROM generate_series(1, $2::int) i RETURNING subject_key, subject_id
), ids AS MATERIALIZED (
  SELECT s.*, v, gen_random_uuid() AS id FROM s, generate_series(1, $3::int) v
), texts AS (
  SELECT *, '{"attributes":{"history":"' || (SELECT string_agg(md5(subject_id || v || k), '') FROM generate_series(1, 32) k)
    || '"},"audit":{"created_at":"2026-01-15T09:30:00Z","created_by":"importer","source":"trial"},"envelope_version":"entity_state_envelope_v1"'
    || ',"evidence":[],"generated_at":"2026-01-15T09:30:00Z","snapshot_id":"' || id || '","snapshot_version":' || v
    || ',"subject":{"subject_id":"' || subject_id || '","subject_type":"organization"}}' AS text FROM ids
)
INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope, envelope_hash, prev_hash)
SELECT subject_key, v, id, $1, '2026-01-15T09:30:00Z', text, sha256(convert_to(text, 'UTF8')),
       lag(sha256(convert_to(text, 'UTF8'))) OVER (PARTITION BY subject_key ORDER BY v) FROM texts`;

await runTrial('archive', async (trial) => {
  const server = await TrialPostgres.create(trial, 'primary', { max_connections: '200' });
  await server.start();
  await server.query('CREATE DATABASE iss', [], 'postgres');
  // An index has a function with exceptions, which VACUUM FULL cannot rebuild in parallel.
  await server.query('ALTER DATABASE iss SET max_parallel_maintenance_workers = 0', [], 'postgres');
  const swift = await TrialSwift.start(trial);
  Object.assign(process.env, swift.environment, { DATABASE_URL: server.url() });
  const service = await TrialService.start(trial, {
    databaseUrl: server.url(),
    gateways: 2,
    workers: 0,
    environment: { ...swift.environment, ARCHIVE_AFTER_DAYS: '0', SWEEP_INTERVAL_MS: '200' },
  });
  await server.query(SEED, [TENANT, SUBJECTS, VERSIONS, 'archived-']);
  const number = async (what: string): Promise<number> => {
    const [row] = await server.query<{ number: number }>(`SELECT (${what})::float8 AS number`);
    return row?.number ?? Number.NaN;
  };
  const archived = (): Promise<number> => number('SELECT count(*) FROM snapshots WHERE pack_id IS NOT NULL');
  const sizeOf = (): Promise<number> =>
    number(`SELECT pg_total_relation_size('snapshots') / (SELECT count(*) FROM snapshots)`);
  const before = await sizeOf();

  const hashes = new Map<string, string>();
  for (const { subject, version, hash } of await server.query<{ subject: string; version: number; hash: string }>(
    `SELECT subject_id AS subject, snapshot_version AS version, encode(envelope_hash, 'hex') AS hash FROM snapshots JOIN subjects USING (subject_key)`,
  )) {
    hashes.set(`${subject}/${version}`, hash);
  }

  const wrong: string[] = [];
  const counts = { right: 0, away: 0, latest: 0 };
  const times: number[] = [];
  let [isReading, isPaused] = [true, false];
  const random = (most: number): number => 1 + Math.floor(Math.random() * most);
  const read = async (subject: string, version: number | 'latest'): Promise<void> => {
    const startedMs = performance.now();
    const { status, body } = await service.request(
      'GET',
      `/v1/tenants/${TENANT}/subjects/organization/${subject}/snapshots/${version}`,
    );
    if (status === 503 && version !== 'latest' && body.includes('archive_unavailable')) {
      counts.away += 1;
      return;
    }
    const answer: { envelope?: unknown; envelope_hash?: string } = status === 200 ? JSON.parse(body) : {};
    const expected = hashes.get(`${subject}/${version === 'latest' ? VERSIONS : version}`);
    const computed = createHash('sha256')
      .update(JSON.stringify(answer.envelope) ?? '')
      .digest('hex');
    if (status !== 200 || answer.envelope_hash !== expected || computed !== expected) {
      wrong.push(`${subject}/${version}: ${status} ${body.slice(0, 200)}`);
    } else if (version === 'latest') counts.latest += 1;
    else counts.right += 1;
    times.push(performance.now() - startedMs);
  };
  const readers = Array.from({ length: 3 }, async (_, place) => {
    while (isReading) {
      if (!isPaused) await read(`archived-${random(SUBJECTS)}`, place === 0 ? 'latest' : random(VERSIONS - 1));
      await pause(5);
    }
  });
  const writer = LedgerWriter.start(trial, service);
  await writer.waitForMore(20);

  // Workers are killed at random moments while they archive, and others take over after their leases.
  const startedMs = performance.now();
  await service.startOne('webhook-worker');
  for (let kill = 0; kill < KILLS; kill++) {
    await service.startOne('webhook-worker');
    await pause(300 + Math.random() * 1_500);
    const [oldest] = service.workers.splice(0, 1);
    await oldest?.kill();
    await server.query(`UPDATE archive_progress SET next_at = now()`);
  }
  const all = SUBJECTS * (VERSIONS - 1);
  await waitFor(async () => (await archived()) >= all, {
    deadlineMs: 240_000,
    what: 'all old versions to be archived',
  });
  trial.say(`all archived ${((performance.now() - startedMs) / 1000).toFixed(0)} s after the first worker started`);
  // With empty caches, every read needs the store.
  isPaused = true;
  await pause(1_000);
  for (const gateway of [...service.gateways]) {
    await gateway.stop(15_000);
    await gateway.start();
  }
  isPaused = false;
  await swift.stopProxy();
  await pause(4_000);
  await swift.startProxy();
  await swift.hang(8_000);
  const { right } = counts;
  await waitFor(async () => counts.right > right + 200, { deadlineMs: 60_000, what: 'reads from the archive' });
  isReading = false;
  await Promise.all(readers);
  trial.judge(
    wrong.length === 0 && counts.right > 0 && counts.latest > 0 && counts.away > 0,
    `${counts.right} reads of old versions and ${counts.latest} of the latest were right, ${counts.away} were 503 archive_unavailable; wrong: ${wrong.length} ${wrong[0] ?? ''}`,
  );

  const more = performance.now();
  await server.query(SEED, [TENANT, SUBJECTS, VERSIONS, 'more-']);
  const seededMs = performance.now();
  await waitFor(async () => (await archived()) >= 2 * all, {
    deadlineMs: 240_000,
    what: 'more versions to be archived',
  });
  trial.say(
    `${all} more versions, stored within ${(seededMs - more).toFixed(0)} ms, were archived ${(performance.now() - seededMs).toFixed(0)} ms later, beside the log and the writer`,
  );

  const verified = iss('archive', 'verify');
  trial.judge(verified.status === 0, verified.stdout.trim());

  // Wrong bytes must be reported, and never shown.
  const files = globSync(trial.path('devices/d1/objects/**/*.data'));
  const mends = files.map((file) => TrialSwift.damage(file));
  for (const gateway of [...service.gateways]) {
    await gateway.kill();
    await gateway.start();
  }
  const damaged = await service.request('GET', `/v1/tenants/${TENANT}/subjects/organization/archived-1/snapshots/2`);
  trial.judge(
    damaged.status === 502 &&
      damaged.body.includes('archive_damaged') &&
      damaged.body.includes('Version 2 of organization/archived-1'),
    `a version with wrong bytes gets ${damaged.status} ${JSON.parse(damaged.body).error?.code}`,
  );
  const found = iss('archive', 'verify');
  trial.judge(
    found.status === 1,
    `iss archive verify finds the wrong bytes: ${found.stderr.trim().split('\n').at(-1)}`,
  );
  for (const mend of mends) mend();
  const mended = await service.request('GET', `/v1/tenants/${TENANT}/subjects/organization/archived-1/snapshots/2`);
  trial.judge(mended.status === 200, 'after the object is restored, the version is shown');

  const exported = await measure(() =>
    service.request('GET', `/v1/tenants/${TENANT}/subjects/organization/archived-7/export`),
  );
  trial.say(`an export of ${VERSIONS} versions took ${exported.toFixed(0)} ms`);
  times.sort((one, other) => one - other);
  trial.say(`half of all reads took at most ${(times[times.length >> 1] ?? 0).toFixed(1)} ms`);
  await server.query('VACUUM FULL snapshots');
  trial.say(
    `PostgreSQL: ${before.toFixed(0)} bytes a version before, ${(await sizeOf()).toFixed(0)} afterwards (table and indexes)`,
  );
  const status = iss('archive', 'status');
  trial.say(status.stdout.trim().replaceAll('\n', '; '));

  await writer.stop();
  const audit = iss('audit', '--vkey', service.vkey, '--archive');
  trial.judge(
    audit.status === 0,
    `iss audit --archive: ${audit.stdout.trim().split('\n').slice(-4).join('; ')} ${audit.stderr.trim().slice(-300)}`,
  );
  for (const worker of service.workers) await worker.stop(15_000);
  const restored = iss('archive', 'restore', '--all');
  trial.judge(
    restored.status === 0 && (await archived()) === 0,
    `${restored.stdout.trim()} ${restored.stderr.trim().slice(-200)}`,
  );
  await judgeLedger(trial, writer, server.url());
});

async function measure(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
