import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { reservePort } from '../processes.ts';
import { startOwnRedis } from '../redis.ts';
import { repositoryRoot } from '../root.ts';
import { waitFor } from '../testing/wait-for.ts';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { programOf } from './frame/packages.ts';
import { PASSWORD, postgresAccount, TrialPostgres } from './frame/postgres.ts';
import { runTool, TrialService } from './frame/service.ts';
import { runTrial, type Trial } from './frame/trial.ts';

/**
 * `npm run trial -- pgbouncer [-- PATH]`: runs gateway and worker through PgBouncer, in session mode and, from 1.21 on, in
 * transaction mode. The login has the settings from the operations page, or none. PATH selects another PgBouncer than Debian's.
 */
const WRITE_MS = 6_000;
const LOGINS = { gateway: 'iss_gateway_login', worker: 'iss_worker_login' } as const;
type Login = keyof typeof LOGINS;
/** More than the number of statements. */
const PREPARED = 500;
const PAGE = join(repositoryRoot, 'docs/operations/high-availability.md');

type Mode = 'session' | 'transaction';

const binary = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? programOf('pgbouncer');

/** `[1, 21]` */
function versionOf(program: string): [number, number] {
  const [, major, minor] =
    /PgBouncer (\d+)\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? [];
  return [Number(major), Number(minor)];
}

const login = (port: number, database: string, app: Login = 'gateway'): string =>
  `postgres://${LOGINS[app]}:${PASSWORD}@127.0.0.1:${port}/${database}`;

/** Returns the commands of the page that set up the login. */
function recipe(): string {
  const lines = [...readFileSync(PAGE, 'utf8').matchAll(/^ALTER ROLE iss_gateway_login SET .*;$/gm)].map(
    ([line]) => line,
  );
  if (lines.length === 0) throw new Error(`${PAGE} has no settings of the login`);
  const ofWorker = lines.map((line) => line.replaceAll('gateway', 'worker'));
  return [...lines, ...ofWorker].join('\n');
}

async function startPooler(trial: Trial, postgres: TrialPostgres, mode: Mode): Promise<number> {
  const port = await reservePort();
  const [users, settings] = [trial.path(`${mode}.users`), trial.path(`${mode}.ini`)];
  const names = [...Object.values(LOGINS), 'postgres'];
  writeFileSync(users, names.map((name) => `"${name}" "${PASSWORD}"\n`).join(''), { mode: 0o600 });
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${postgres.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
    'default_pool_size = 40',
    'ignore_startup_parameters = options, extra_float_digits',
    ...(mode === 'transaction' ? [`max_prepared_statements = ${PREPARED}`] : []),
  ];
  writeFileSync(settings, `${lines.join('\n')}\n`, { mode: 0o644 });
  const account = postgresAccount();
  if (account.uid !== undefined && account.gid !== undefined) chownSync(users, account.uid, account.gid);
  await trial.run(`pgbouncer-${mode}`, binary, [settings], { account });
  const answers = async (): Promise<boolean> => {
    const client = new Client({ connectionString: login(port, 'postgres'), connectionTimeoutMillis: 1_000 });
    await client.connect();
    await client.end();
    return true;
  };
  await waitFor(answers, { deadlineMs: 20_000, what: `PgBouncer (${trial.path(`pgbouncer-${mode}.log`)})` });
  return port;
}

/** Returns the message of a gateway that does not start; null if it still runs after half a minute. */
function refusal(environment: TrialService['environment']): string | null {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(repositoryRoot, 'apps/api-gateway/dist/main.js')],
    {
      env: { ...environment, PORT: '0' },
      encoding: 'utf8',
      timeout: 30_000,
    },
  );
  return status === 1 ? `${stdout}${stderr}`.trim() : null;
}

function judgeRefusal(trial: Trial, what: string, said: string | null, expected: RegExp): void {
  trial.judge(said !== null && expected.test(said), `${what}: ${said === null ? 'not refused' : said.slice(0, 400)}`);
}

await runTrial('pgbouncer', async (trial) => {
  const [major, minor] = versionOf(binary);
  const postgres = await TrialPostgres.create(trial, 'postgresql', { max_connections: '200' });
  await postgres.start();
  for (const name of Object.values(LOGINS))
    await postgres.query(`CREATE ROLE ${name} LOGIN PASSWORD '${PASSWORD}'`, [], 'postgres');
  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());

  const tryMode = async (mode: Mode): Promise<void> => {
    const database = `iss_${mode}`;
    await postgres.query(`CREATE DATABASE ${database}`, [], 'postgres');
    for (const name of Object.values(LOGINS)) await postgres.query(`ALTER ROLE ${name} RESET ALL`, [], 'postgres');
    const migrated = runTool('db/migrate', { DATABASE_URL: postgres.url(database), QUEUE_URL: redis.url });
    if (migrated.status !== 0) throw new Error(migrated.stderr);
    for (const app of ['gateway', 'worker'] as const)
      await postgres.query(`GRANT iss_${app} TO ${LOGINS[app]}`, [], 'postgres');
    const port = await startPooler(trial, postgres, mode);
    const url = login(port, database);
    // Existing server connections keep their old settings.
    const endServers = (): Promise<unknown> =>
      postgres.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename IN ('${Object.values(LOGINS).join("', '")}')`,
        [],
        database,
      );
    const bare = {
      PATH: process.env['PATH'],
      AUTH_MODE: 'disabled',
      DATABASE_URL: url,
      METRICS_PORT: '0',
      SECRETS_KEYS: `trial:${randomBytes(32).toString('base64')}`,
    };
    judgeRefusal(
      trial,
      `${mode}, a login without settings`,
      refusal(bare),
      /acts as iss_gateway_login and not as iss_gateway/,
    );
    await postgres.query(`ALTER ROLE ${LOGINS.gateway} SET role = 'iss_gateway'`, [], 'postgres');
    await endServers();
    judgeRefusal(
      trial,
      `${mode}, a login with its role alone`,
      refusal(bare),
      /lack the settings statement_timeout=10000/,
    );
    await postgres.query(recipe(), [], 'postgres');
    await endServers();
    if (mode === 'transaction') {
      judgeRefusal(trial, `${mode}, a queue on PostgreSQL`, refusal(bare), /queue on PostgreSQL needs sessions/);
      const through = runTool('db/migrate', {
        DATABASE_URL: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`,
      });
      judgeRefusal(trial, `${mode}, db:migrate`, through.status === 1 ? through.stderr : null, /needs a session/);
    }

    const service = await TrialService.start(trial, {
      databaseUrl: url,
      workerUrl: login(port, database, 'worker'),
      ownerUrl: postgres.url(database),
      queueUrl: redis.url,
      gateways: 2,
    });
    const receiver = await DeliveryRecorder.start(trial, service);
    const writer = LedgerWriter.start(trial, service, { writers: 8, pauseMs: 0 });
    await pause(WRITE_MS);
    await writer.stop();
    trial.say(`PgBouncer ${major}.${minor} in ${mode} mode:`);
    const { stored } = await judgeLedger(trial, writer, postgres.url(database));
    trial.judge([...writer.statuses.keys()].join() === '201', `${mode}: no write was refused`);
    await receiver.judge(trial, stored);
    await service.judgeLog(trial, postgres.url(database));
    for (const gateway of service.gateways) {
      const { status, body } = await service.readiness(gateway);
      trial.judge(status === 200, `${mode}, readiness: ${body}`);
    }
    trial.judge(service.faults.length === 0, `${mode}, processes that ended: ${service.faults.join('; ') || 'none'}`);
    await service.stopAll();
    // The next service has its own log.
    for (const file of globSync('{log.key,*.checkpoint}', { cwd: trial.folder })) rmSync(trial.path(file));
  };

  await tryMode('session');
  if (major > 1 || minor >= 21) await tryMode('transaction');
  else trial.skip(`PgBouncer ${major}.${minor} cannot keep prepared statements apart in transaction mode: 1.21 can`);
});
