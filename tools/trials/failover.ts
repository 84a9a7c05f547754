import { execFileSync, type ExecFileSyncOptions, spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { appendFileSync, chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { ensureBuilt } from '../build.ts';
import { applyMigrations } from '../db/apply-migrations.ts';
import { freePort, reportError, UserError } from '../processes.ts';
import { startOwnRedis } from '../redis.ts';
import { repositoryRoot } from '../root.ts';
import { ProductProcess } from '../testing/product-process.ts';
import { startReceiver } from '../testing/receiver.ts';
import { waitFor } from '../testing/wait-for.ts';

/**
 * `npm run trial:failover`: PostgreSQL with a synchronous standby; the primary is killed (kill -9) and the standby promoted
 * while a writer writes. The gateway and the worker know both hosts. The writer keeps what was acknowledged, the receiver
 * what was delivered; the verdict compares both, and the transparency log, with the database afterwards. Needs Debian's package `postgresql`.
 */
const WRITERS = 8;
const BEFORE_MS = 3_000;
const AFTER_MS = 5_000;
const PASSWORD = randomBytes(12).toString('hex');

const closings: (() => unknown)[] = [];

/** Runs a program of the server's package as the account that may. */
function asPostgres(program: string, args: string[]): string {
  const [binary] = globSync(`/usr/lib/postgresql/*/bin/${program}`).sort().reverse();
  if (binary === undefined) throw new UserError('PostgreSQL is missing: apt-get install postgresql');
  const env = { ...process.env, PGPASSWORD: PASSWORD };
  const options = { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] } satisfies ExecFileSyncOptions;
  return userInfo().uid === 0
    ? execFileSync('runuser', ['-u', 'postgres', '--', binary, ...args], options)
    : execFileSync(binary, args, options);
}

function startServer(folder: string, port: number): void {
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=100`;
  asPostgres('pg_ctl', ['-D', folder, '-w', '-l', join(folder, 'server.log'), '-o', settings, 'start']);
  closings.push(() => existsSync(join(folder, 'postmaster.pid')) && stopServer(folder));
}

function stopServer(folder: string): void {
  try {
    asPostgres('pg_ctl', ['-D', folder, '-m', 'immediate', 'stop']);
  } catch {
    // It was killed already.
  }
}

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** A primary that answers a commit when its standby has it as well. */
async function startPair(root: string) {
  const [primary, standby] = [join(root, 'primary'), join(root, 'standby')];
  const [port, standbyPort] = [await freePort(), await freePort()];
  const passwordFile = join(root, 'password');
  appendFileSync(passwordFile, PASSWORD);
  chmodSync(passwordFile, 0o644);
  asPostgres('initdb', [
    '-D',
    primary,
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    '--pwfile',
    passwordFile,
    '-E',
    'UTF8',
  ]);
  startServer(primary, port);
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  asPostgres('pg_basebackup', [
    '-d',
    `host=127.0.0.1 port=${port} user=postgres application_name=standby`,
    '-D',
    standby,
    '-R',
    '-X',
    'stream',
  ]);
  startServer(standby, standbyPort);
  await query(url, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
  await query(url, `ALTER SYSTEM SET primary_conninfo = ''`);
  await query(url, 'SELECT pg_reload_conf()');
  const isSynchronous = async (): Promise<boolean> =>
    (await query(url, `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`)).length === 1;
  await waitFor(isSynchronous, { deadlineMs: 30_000, what: 'the synchronous standby' });
  return {
    hosts: `127.0.0.1:${port},127.0.0.1:${standbyPort}`,
    standbyUrl: `postgres://postgres:${PASSWORD}@127.0.0.1:${standbyPort}/iss`,
    primaryUrl: url,
    failOver: () => {
      const pid = execFileSync('head', ['-1', join(primary, 'postmaster.pid')], { encoding: 'utf8' }).trim();
      process.kill(Number(pid), 'SIGKILL');
      // Without a new primary of its own the standby would wait for the old one's confirmation.
      asPostgres('pg_ctl', ['-D', standby, '-w', 'promote']);
    },
  };
}

interface Write {
  snapshotId: string;
  acknowledgedAtMs: number;
}

async function trial(): Promise<boolean> {
  const root = mkdtempSync(join(tmpdir(), 'iss-failover-'));
  chmodSync(root, 0o777);
  closings.push(() => rmSync(root, { recursive: true, force: true }));
  const pair = await startPair(root);
  await query(pair.primaryUrl, 'CREATE DATABASE iss');
  const databaseUrl = `postgres://postgres:${PASSWORD}@${pair.hosts}/iss?target_session_attrs=read-write`;
  const redis = await startOwnRedis();
  closings.push(() => redis.stop());
  await applyMigrations(databaseUrl, redis.url);
  const receiver = await startReceiver();
  closings.push(() => receiver.stop());

  const origin = 'trial/log';
  const key = join(root, 'log.key');
  const iss = (...args: string[]): string =>
    execFileSync(process.execPath, [join(repositoryRoot, 'apps/cli/iss.mjs'), ...args], { encoding: 'utf8' });
  const vkey = iss('log-key', '--origin', origin, '--out', key).trim();

  const environment = {
    PATH: process.env['PATH'],
    APP_ENV: 'local',
    AUTH_MODE: 'disabled',
    DATABASE_URL: databaseUrl,
    QUEUE_URL: redis.url,
    METRICS_PORT: '0',
    SECRETS_KEYS: `trial:${randomBytes(32).toString('base64')}`,
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_ORIGIN: origin,
    LOG_SIGNING_KEY: readFileSync(key, 'utf8').trim(),
    LOG_CHECKPOINT_FILE: join(root, 'checkpoint'),
    WEBHOOK_RETRY_SCHEDULE_MS: '200,500,1000,1000,1000,1000',
  };
  const start = async (name: string, variable: string): Promise<string> => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const server = new ProductProcess({
      name,
      url,
      entry: `apps/${name}/dist/main.js`,
      env: { ...environment, [variable]: String(port) },
      logFile: join(root, `${name}.log`),
      onUnexpectedEnd: (how) => console.error(`${name} ended: ${how}`),
    });
    await server.start();
    closings.push(() => server.kill());
    return url;
  };
  const [gateway, worker] = await Promise.all([start('api-gateway', 'PORT'), start('webhook-worker', 'WORKER_PORT')]);

  const post = async (path: string, body: object): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${gateway}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    await answer.arrayBuffer();
    return answer.status;
  };
  await post('/tenants', { tenant_id: 'trial', name: 'Trial' });
  const target = { tenant_id: 'trial', target_url: `${receiver.url}/hook`, event_types: ['identity.snapshot.created'] };
  await post('/webhook-subscriptions', target);

  const acknowledged: Write[] = [];
  const statuses = new Map<number, number>();
  let isWriting = true;
  closings.push(() => (isWriting = false));
  const writer = async (): Promise<void> => {
    while (isWriting) {
      const envelope = envelopeOf(randomUUID());
      const status = await post('/tenants/trial/entity-states', envelope).catch(() => 0);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 201) acknowledged.push({ snapshotId: envelope.snapshot_id, acknowledgedAtMs: performance.now() });
      else await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, writer));
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  await wait(BEFORE_MS);
  const killedAtMs = performance.now();
  pair.failOver();
  const promotedAtMs = performance.now();
  const wrote = (): boolean => acknowledged.some(({ acknowledgedAtMs }) => acknowledgedAtMs > promotedAtMs);
  await waitFor(wrote, { deadlineMs: 60_000, what: 'the first write after the failover' });
  const wroteAgainAtMs =
    acknowledged.find(({ acknowledgedAtMs }) => acknowledgedAtMs > promotedAtMs)?.acknowledgedAtMs ?? 0;
  await wait(AFTER_MS);
  isWriting = false;
  await writing;

  const stored = new Set(
    (await query<{ id: string }>(pair.standbyUrl, 'SELECT snapshot_id AS id FROM snapshots')).map(({ id }) => id),
  );
  const lost = acknowledged.filter(({ snapshotId }) => !stored.has(snapshotId)).length;
  const delivered = (): Set<string> =>
    new Set(receiver.requests.map(({ body }): string => JSON.parse(body.toString()).data.snapshot_id));
  const undelivered = (): number => {
    const known = delivered();
    return [...stored].filter((id) => !known.has(id)).length;
  };
  await waitFor(() => undelivered() === 0, { deadlineMs: 60_000, what: 'the deliveries' }).catch(() => undefined);

  const logged = async (): Promise<number> =>
    (
      await query<{ count: number }>(
        pair.standbyUrl,
        'SELECT count(*)::int AS count FROM log_entries WHERE entry_type = 1',
      )
    )[0]?.count ?? 0;
  await waitFor(async () => (await logged()) === stored.size, { deadlineMs: 60_000, what: 'the log' }).catch(
    () => undefined,
  );
  const readiness = await (await fetch(`${worker}/v1/ops/readiness`)).text();
  const audit = spawnSync(
    process.execPath,
    [join(repositoryRoot, 'apps/cli/iss.mjs'), 'audit', '--database-url', pair.standbyUrl, '--vkey', vkey],
    { encoding: 'utf8' },
  );

  const gapMs = wroteAgainAtMs - killedAtMs;
  const ownMs = promotedAtMs - killedAtMs;
  const verdicts: [string, boolean][] = [
    [`acknowledged ${acknowledged.length}, of which lost: ${lost}`, lost === 0],
    [`in the database ${stored.size}, of which not delivered: ${undelivered()}`, undelivered() === 0],
    [`no write for ${ms(gapMs)} ms, of which the database took ${ms(ownMs)}`, gapMs <= ownMs + 1_000],
    [
      `in the log ${await logged()}; the worker says ${readiness}`,
      (await logged()) === stored.size && /"log":\{"status":"ok"/.test(readiness),
    ],
    [`iss audit: ${audit.stdout.trim().split('\n').join(' ')}`, audit.status === 0],
    [
      `answers by status: ${[...statuses]
        .sort()
        .map(([status, count]) => `${status}: ${count}`)
        .join(', ')}`,
      !statuses.has(500),
    ],
  ];
  for (const [text, holds] of verdicts) console.log(`${holds ? 'holds ' : 'BROKEN'}  ${text}`);
  return verdicts.every(([, holds]) => holds);
}

const ms = (value: number): string => value.toFixed(0);

function envelopeOf(subjectId: string) {
  const at = new Date().toISOString();
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: randomUUID(),
    snapshot_version: 1,
    generated_at: at,
    subject: { subject_type: 'organization', subject_id: subjectId },
    attributes: { legal: { legal_name: `Trial ${subjectId}` } },
    evidence: [],
    attribute_paths: {},
    audit: { created_by: 'trial', created_at: at, source: 'trial' },
  };
}

try {
  await ensureBuilt();
  process.exitCode = (await trial()) ? 0 : 1;
} catch (error) {
  process.exitCode = reportError(error);
} finally {
  for (const close of closings.reverse()) await close();
}
