import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../testing/wait-for.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { folderForPostgres, query, runPostgresProgram, TrialPostgres } from './frame/postgres.ts';
import { iss, TENANT, TrialService } from './frame/service.ts';
import { TrialSwift } from './frame/swift.ts';
import { runTrial } from './frame/trial.ts';

/**
 * `npm run trial -- archive`: moves old versions to OpenStack Swift through its S3 interface, while a writer writes and
 * readers read. Meanwhile workers are killed, the store is stopped, hangs and returns wrong bytes, and versions are
 * erased.
 */
const VERSIONS = 20;
/** `TRIAL_SIZE=100000` archives about so many versions: the subjects' and a long history, which is exported. */
const SIZE = Number(process.env['TRIAL_SIZE'] ?? 20_000);
const SUBJECTS = SIZE / 2 / VERSIONS;
const LONG = SIZE / 2;
const KILLS = 6;
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
  /** Bytes of table and indexes for a version, without the texts in them. */
  const sizeOf = (texts = 'coalesce(sum(pg_column_size(envelope)), 0)'): Promise<number> =>
    number(`SELECT (pg_total_relation_size('snapshots') - ${texts}) / count(*) FROM snapshots`);
  const before = await sizeOf('0');

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
    // Every second kill is after the pack was recorded and before its texts have moved, unless all are archived.
    const isInFlight = async (): Promise<boolean> =>
      (await number(
        `SELECT count(*) FROM archive_packs WHERE state = 'written' AND created_at > now() - interval '5 s'`,
      )) > 0;
    if (kill % 2 === 1)
      await waitFor(isInFlight, { deadlineMs: 15_000, what: 'a pack in flight' }).catch(() => undefined);
    else await pause(300 + Math.random() * 1_500);
    const [oldest] = service.workers.splice(0, 1);
    await oldest?.kill();
    await server.query(`UPDATE archive_progress SET next_at = now()`);
  }
  const all = SUBJECTS * (VERSIONS - 1);
  await waitFor(async () => (await archived()) >= all, {
    deadlineMs: 600_000,
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
  await swift.slow(8_000);
  const { right } = counts;
  await waitFor(async () => counts.right > right + 200, { deadlineMs: 60_000, what: 'reads from the archive' });
  isReading = false;
  await Promise.all(readers);
  trial.judge(
    wrong.length === 0 && counts.right > 0 && counts.latest > 0 && counts.away > 0,
    `${counts.right} reads of old versions and ${counts.latest} of the latest were right, ${counts.away} were 503 archive_unavailable; wrong: ${wrong.length} ${wrong[0] ?? ''}`,
  );

  // The store is full: texts stay in the database.
  const due = (when: string): Promise<unknown> => server.query(`UPDATE archive_progress SET next_at = '${when}'`);
  const moved = await archived();
  await swift.fill(true);
  await server.query(SEED, [TENANT, 20, VERSIONS, 'full-']);
  const failedMessage = 'Old texts could not be archived';
  const hasFailed = () => service.workers.some((worker) => service.logOf(worker).includes(failedMessage));
  await waitFor(hasFailed, { deadlineMs: 60_000, what: 'the worker to notice that the store is full' });
  const full = await service.request('GET', `/v1/tenants/${TENANT}/subjects/organization/full-1/snapshots/2`);
  trial.judge(
    full.status === 200,
    `with a full store, old versions stay in the database and are shown: ${full.status}`,
  );
  await swift.fill(false);
  const fill = 20 * (VERSIONS - 1);
  await waitFor(async () => (await archived()) >= moved + fill, { deadlineMs: 120_000, what: 'the archive to go on' });

  // A backup of now. Everything else is archived and erased afterwards.
  const dump = `${folderForPostgres(trial.path('dump'))}/iss.dump`;
  runPostgresProgram('pg_dump', ['--format=custom', `--file=${dump}`, server.url()]);

  // Figures: one long history, first from PostgreSQL and then from the archive.
  // A worker that archives at this moment sets its own time at its end.
  await waitFor(
    async () => {
      await server.query(`UPDATE archive_progress SET next_at = 'infinity' WHERE lease IS NULL`);
      return (await number(`SELECT count(*) FROM archive_progress WHERE next_at < 'infinity'`)) === 0;
    },
    { deadlineMs: 60_000, what: 'the workers to stop archiving' },
  );
  await server.query(SEED, [TENANT, 1, LONG, 'long-']);
  const waiting = `SELECT count(*) FROM log_waiting JOIN subjects USING (subject_key) WHERE subject_id = 'long-1'`;
  await waitFor(async () => (await number(waiting)) === 0, {
    deadlineMs: 600_000,
    what: 'the long history to be logged',
  });
  const fromDatabase = await measureReads(service);
  if (
    (await number(
      `SELECT count(*) FROM snapshots JOIN subjects USING (subject_key) WHERE subject_id = 'long-1' AND pack_id IS NOT NULL`,
    )) > 0
  )
    throw new Error('a worker archived the history too early');
  const [moreBefore, writtenBefore] = [await archived(), writer.acknowledged.length];
  await pause(5_000);
  const restingRate = (writer.acknowledged.length - writtenBefore) / 5;
  const [startMs, writtenAtStart] = [performance.now(), writer.acknowledged.length];
  await due('-infinity');
  await waitFor(async () => (await archived()) >= moreBefore + LONG - 1, {
    deadlineMs: 600_000,
    what: 'the long history',
  });
  const seconds = (performance.now() - startMs) / 1000;
  const busyRate = (writer.acknowledged.length - writtenAtStart) / seconds;
  trial.say(
    `${LONG - 1} versions were archived within ${seconds.toFixed(1)} s, ${((LONG - 1) / seconds).toFixed(0)} a second; creates ${restingRate.toFixed(0)} a second before and ${busyRate.toFixed(0)} meanwhile`,
  );
  for (const gateway of [...service.gateways]) {
    await gateway.stop(15_000);
    await gateway.start();
  }
  const fromArchive = await measureReads(service);
  trial.say(
    `an export of ${LONG} versions took ${fromDatabase.exportMs.toFixed(0)} ms from PostgreSQL, ${fromArchive.exportMs.toFixed(0)} from the archive; a version ${fromDatabase.readMs.toFixed(1)} and ${fromArchive.readMs.toFixed(1)} ms`,
  );

  // An erasure of archived versions destroys their key.
  const ask = `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
    SELECT gen_random_uuid(), $1, subject_key, '{1,2}', 'alice' FROM subjects WHERE subject_id = 'archived-3'`;
  await server.query(ask, [TENANT]);
  await server.query(`UPDATE erasures SET confirmed_by = 'bob', confirmed_at = now()`);
  const erased = await server.query<{ at: Date | null }>('SELECT erase_versions(erasure_id) AS at FROM erasures');
  const gone = await service.request('GET', `/v1/tenants/${TENANT}/subjects/organization/archived-3/snapshots/2`);
  const keys = await number(
    `SELECT count(*) FROM snapshot_views JOIN subjects USING (subject_key) WHERE subject_id = 'archived-3' AND snapshot_version < 3 AND view_secret IS NOT NULL`,
  );
  trial.judge(
    erased[0]?.at instanceof Date && gone.status === 410 && keys === 0,
    `an erased archived version gets ${gone.status}, and ${keys} keys of it remain`,
  );

  // A database of yesterday finds all its packs.
  await server.query('CREATE DATABASE restored', [], 'postgres');
  runPostgresProgram('pg_restore', ['--exit-on-error', `--dbname=${server.url('restored')}`, dump]);
  process.env['DATABASE_URL'] = server.url('restored');
  const past = iss('archive', 'verify');
  process.env['DATABASE_URL'] = server.url();
  const [inDump] = await query<{ texts: number }>(
    server.url('restored'),
    'SELECT count(*)::int AS texts FROM snapshots WHERE pack_id IS NOT NULL',
  );
  trial.judge(
    past.status === 0 && inDump !== undefined && inDump.texts > 0 && past.stdout.includes(`Verified ${inDump.texts} `),
    `a database restored from before: ${past.stdout.trim()} ${past.status === 0 ? '' : past.stderr.trim().slice(-200)}`,
  );

  const verified = iss('archive', 'verify');
  trial.judge(verified.status === 0, verified.stdout.trim());

  // Wrong bytes must be reported, and never shown.
  const files = globSync(trial.path('devices/d1/objects/**/*.data'));
  const mends = files.map((file) => swift.damage(file));
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

  times.sort((one, other) => one - other);
  trial.say(`half of all reads took at most ${(times[times.length >> 1] ?? 0).toFixed(1)} ms`);
  await server.query('VACUUM FULL snapshots');
  trial.say(
    `PostgreSQL (table and indexes): ${before.toFixed(0)} bytes a version before; afterwards ${(await sizeOf()).toFixed(0)}, without the texts of the latest versions`,
  );
  trial.say(
    `a view takes ${(await number(`SELECT pg_total_relation_size('snapshot_views') / count(*) FROM snapshot_views`)).toFixed(0)} bytes`,
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

interface ReadTimes {
  exportMs: number;
  /** The median of reads by id. */
  readMs: number;
}

/** Exports the long history once, and reads some of its versions. */
async function measureReads(service: TrialService): Promise<ReadTimes> {
  const base = `/v1/tenants/${TENANT}/subjects/organization/long-1`;
  const timeOf = async (path: string): Promise<number> => {
    const startedMs = performance.now();
    const answer = await fetch(`${service.gateways[0]?.url}${base}${path}`, {
      headers: { accept: 'application/x-ndjson' },
    });
    const body = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${body.slice(0, 200)}`);
    return performance.now() - startedMs;
  };
  const reads: number[] = [];
  for (let version = 1; version < LONG; version += LONG / 100) reads.push(await timeOf(`/snapshots/${version}`));
  reads.sort((one, other) => one - other);
  return { readMs: reads[reads.length >> 1] ?? Number.NaN, exportMs: await timeOf('/export') };
}
