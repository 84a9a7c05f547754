import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, DatabaseError } from 'pg';
import { applyMigrations } from '../db/apply-migrations.ts';
import { repositoryRoot } from '../root.ts';
import { startOwnRedis } from '../redis.ts';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { type PostgresSettings, TrialPostgres } from './frame/postgres.ts';
import { TrialService } from './frame/service.ts';
import { addSubjects, ASKED, type Asked, median, type Round, StatementLoop } from './frame/statement-loop.ts';
import { runTrial, type Trial } from './frame/trial.ts';

/**
 * `npm run trial -- partitions`: puts `snapshots` into 16 hash partitions by subject.
 *
 * - First it moves a running installation by the steps in `tools/trials/partitions/*.sql`, with a writer and a receiver.
 * - Then it measures three layouts in alternating rounds: without partitions, with partitions and the statements of the service,
 *   and with statements that find an id in `snapshot_ids`.
 *
 * `-- --subjects 1000000` sets the number of subjects of the measurement.
 */
const SUBJECTS = 300_000;
/** The number of subjects of the moved installation, without those of the writer. */
const MOVED = 20_000;
const ROUNDS = 5;
const ROUND_MS = 1_500;
/** The maximum wait of a write while the tables are exchanged. */
const GAP_MS = 3_000;
const SETTINGS: PostgresSettings = { shared_buffers: '512MB', max_wal_size: '8GB', autovacuum: 'off' };

const { values } = parseArgs({ options: { subjects: { type: 'string' } }, strict: false });
const subjects = Number(values.subjects ?? SUBJECTS);

const step = (name: string): string =>
  readFileSync(join(repositoryRoot, 'tools/trials/partitions', `${name}.sql`), 'utf8');

/** A line of an audit about a difference from the migrated schema. */
const OF_SCHEMA = /^ +(trigger|constraint) \w+ of snapshots\w*: /;

const LOCK_NOT_AVAILABLE = '55P03';

/** Repeats a step until it gets its locks. */
async function runStep(owner: Client, name: string): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    try {
      await owner.query(step(name));
      return tries;
    } catch (error) {
      await owner.query('ROLLBACK');
      if (!(error instanceof DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error;
    }
  }
}

/** Moves a database. Returns the number of copied batches. */
async function move(owner: Client): Promise<number> {
  await runStep(owner, '1-prepare');
  let batches = 0;
  for (let after = { subjectKey: '0', snapshotVersion: 0 }; ; batches += 1) {
    const { rows } = await owner.query<typeof after>(step('2-copy'), [after.subjectKey, after.snapshotVersion]);
    const [last] = rows;
    if (last === undefined) break;
    after = last;
  }
  const { rows } = await owner.query<{ different: number }>(step('3-compare'));
  if (rows[0]?.different !== 0) throw new Error(`${rows[0]?.different} rows differ after they were copied`);
  await runStep(owner, '4-swap');
  return batches;
}

async function withOwner<T>(url: string, work: (owner: Client) => Promise<T>): Promise<T> {
  const owner = new Client({ connectionString: url });
  await owner.connect();
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}

/** Moves an installation while it runs. */
async function moveBesideWriter(trial: Trial, server: TrialPostgres): Promise<void> {
  await server.query('CREATE DATABASE iss', [], 'postgres');
  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());
  await applyMigrations(server.url(), redis.url);
  await addSubjects(server.url(), MOVED);
  // Marks them for the log, as the writer's are.
  await server.query(`INSERT INTO log_waiting (entry_type, subject_key, snapshot_version)
                      SELECT 1, subject_key, snapshot_version FROM snapshots`);
  const service = await TrialService.start(trial, { databaseUrl: server.url(), queueUrl: redis.url });
  const receiver = await DeliveryRecorder.start(trial, service);
  const writer = LedgerWriter.start(trial, service);
  await writer.waitForMore(200);
  const startedAtMs = Date.now();
  const batches = await withOwner(server.url(), move);
  const tookMs = Date.now() - startedAtMs;
  await writer.waitForMore(200);
  const applied = await applyMigrations(server.url(), redis.url);
  trial.judge(applied.length === 0, 'db:migrate finds nothing to do afterwards');
  await writer.stop();

  const [found] = await server.query<{ parts: number; stored: number; ids: number }>(
    `SELECT (SELECT count(*)::int FROM pg_inherits WHERE inhparent = 'snapshots'::regclass) AS parts,
            (SELECT count(*)::int FROM snapshots) AS stored, (SELECT count(*)::int FROM snapshot_ids) AS ids`,
  );
  trial.judge(
    found?.parts === 16 && found.stored === found.ids,
    `moved in ${tookMs} ms, ${batches} batches: ${found?.stored} snapshots in ${found?.parts} partitions, ${found?.ids} ids`,
  );
  const gapMs = writer.longestGapMs(startedAtMs);
  trial.judge(gapMs <= GAP_MS, `the longest pause between two acknowledged writes: ${gapMs} ms`);
  await judgeLedger(trial, writer, server.url());
  await receiver.judge(trial, new Set(writer.acknowledged.map(({ snapshotId }) => snapshotId)));
  const [gateway] = service.gateways;
  const readiness = gateway === undefined ? undefined : await service.readiness(gateway);
  trial.judge(readiness?.status === 200, `the gateway says ${readiness?.body}`);
  const [taken] = writer.acknowledged;
  const twice = await server
    .query(
      `INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope)
       SELECT 0, 1, $1, 'x', 'x', 'x'`,
      [taken?.snapshotId],
    )
    .then(
      () => 'taken',
      (error: unknown) => (error instanceof DatabaseError ? error.constraint : undefined),
    );
  trial.judge(twice === 'snapshots_snapshot_id_key', `a second snapshot of one id is refused by ${twice}`);
  await service.waitForLog(server.url());
  const audit = service.audit(server.url());
  // The audit must report the changed schema.
  const ofRows = audit.stdout.split('\n').filter((line) => /^ {2}/.test(line) && !OF_SCHEMA.test(line));
  trial.judge(
    audit.status !== 2 && ofRows.length === 0 && audit.stdout.includes('0 facts wait'),
    `iss audit: ${audit.stdout.split('\n')[0]} Wrong with rows: ${ofRows.length} ${ofRows[0] ?? ''}`,
  );
  await service.stopAll();
}

/** Rewrites a statement to find an id in `snapshot_ids`, since partitions have no index on it. */
function byIds(text: string): string {
  return text
    .replace(
      'SELECT true FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1',
      'SELECT true FROM snapshot_ids n WHERE n.snapshot_id = i.snapshot_id LIMIT 1',
    )
    .replace(
      'LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id',
      `LEFT JOIN snapshot_ids k ON k.snapshot_id = i.snapshot_id
       LEFT JOIN LATERAL (SELECT * FROM snapshots n
                           WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) found ON true`,
    );
}

const LAYOUTS = ['one table', 'partitions', 'partitions, by ids'] as const;
type Layout = (typeof LAYOUTS)[number];

/** Measures the cost of the layouts on one server. */
async function measure(trial: Trial, server: TrialPostgres): Promise<void> {
  const databases: Record<Layout, string> = {
    'one table': 'plain',
    partitions: 'parted',
    'partitions, by ids': 'by_ids',
  };
  await server.query('CREATE DATABASE plain', [], 'postgres');
  await applyMigrations(server.url('plain'), undefined);
  await addSubjects(server.url('plain'), subjects);
  await server.query('CREATE DATABASE parted TEMPLATE plain', [], 'postgres');
  await withOwner(server.url('parted'), move);
  await server.query('DROP TABLE snapshots_before', [], 'parted');
  await server.query('VACUUM (ANALYZE)', [], 'parted');
  await server.query('CREATE DATABASE by_ids TEMPLATE parted', [], 'postgres');
  await server.query('DROP INDEX snapshots_by_id', [], 'by_ids');
  await server.query('CHECKPOINT', [], 'postgres');
  const loops = new Map<Layout, StatementLoop>();
  for (const layout of LAYOUTS) {
    const rewritten = layout === 'partitions, by ids' ? byIds : undefined;
    const loop = await StatementLoop.open(server, databases[layout], subjects, rewritten);
    trial.atEnd(() => loop.close());
    loops.set(layout, loop);
  }
  const rounds = new Map<string, Round[]>();
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const asked of ASKED) {
      for (const [layout, loop] of loops) {
        const made = await loop.round(asked, ROUND_MS);
        // The first round fills caches.
        if (round > 0) rounds.set(`${asked} ${layout}`, [...(rounds.get(`${asked} ${layout}`) ?? []), made]);
      }
    }
  }
  const figure = (asked: Asked, layout: Layout, of: keyof Round): number =>
    median((rounds.get(`${asked} ${layout}`) ?? []).map((round) => round[of]));
  for (const asked of ASKED) {
    for (const layout of LAYOUTS) {
      const processorUs = figure(asked, layout, 'processorUs');
      const ratio = processorUs / figure(asked, 'one table', 'processorUs');
      trial.judge(
        Number.isFinite(ratio),
        `${asked.padEnd(6)} ${layout.padEnd(18)} ${processorUs.toFixed(0)} µs of PostgreSQL's processors (× ${ratio.toFixed(2)}), ${figure(asked, layout, 'perSecond').toFixed(0)} /s`,
      );
    }
  }
}

await runTrial('partitions', async (trial) => {
  const server = await TrialPostgres.create(trial, 'database', SETTINGS);
  await server.start();
  await moveBesideWriter(trial, server);
  await measure(trial, server);
});
