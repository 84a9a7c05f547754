import { readFileSync, writeFileSync } from 'node:fs';
import { startOwnRedis } from '../redis.ts';
import { textAt } from '../testing/text-at.ts';
import { waitFor } from '../testing/wait-for.ts';
import { prepareWitness } from '../testing/witness-process.ts';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { folderForPostgres, query, runPostgresProgram, TrialPostgres } from './frame/postgres.ts';
import { blocksOf, Operator } from './frame/runbook.ts';
import { iss, TENANT, TrialService } from './frame/service.ts';
import { runTrial, type Trial } from './frame/trial.ts';

/**
 * `npm run trial -- restore`: restores a dump, with and without the role of the applications. Then it restores a database to a
 * point in time during the writing (PITR), while a witness and a receiver know later versions. It runs the commands of
 * docs/operations/restore.md.
 */
const PAGE = 'docs/operations/restore.md';
const NEW_ORIGIN = 'trial/log-2';
const [OLD_PASSWORD, NEW_PASSWORD] = ['before', 'afterwards'];

/** Returns the URL of the applications' login, which owns no table. */
const appUrl = (server: TrialPostgres, password: string): string =>
  `postgres://iss_service:${password}@127.0.0.1:${server.port}/iss`;

async function startPrimary(trial: Trial): Promise<TrialPostgres> {
  const archive = folderForPostgres(trial.path('archive'));
  const server = await TrialPostgres.create(trial, 'primary', {
    archive_mode: 'on',
    archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
  });
  await server.start();
  await server.query('CREATE DATABASE iss', [], 'postgres');
  await server.query(
    `CREATE ROLE iss_gateway NOLOGIN; CREATE ROLE iss_worker NOLOGIN;
     CREATE ROLE iss_service LOGIN PASSWORD '${OLD_PASSWORD}' IN ROLE iss_gateway, iss_worker`,
  );
  return server;
}

/** Restores the dump into a separate server by the page, and returns the output of the audit. */
async function restoreDump(trial: Trial, operator: Operator, name: string, withRole: boolean): Promise<TrialPostgres> {
  const server = await TrialPostgres.create(trial, name);
  await server.start();
  await server.query(`CREATE ROLE iss_service LOGIN PASSWORD '${NEW_PASSWORD}'`, [], 'postgres');
  const [block = ''] = blocksOf(PAGE, 'Restore a dump');
  const lines = withRole
    ? block
    : block
        .split('\n')
        .filter((line) => !line.includes('CREATE ROLE'))
        .join('\n')
        .replace(/pg_restore --exit-on-error (.*)/, 'pg_restore $1 2> refused || true');
  operator.set({ ADMIN_URL: server.url('postgres'), NEW_URL: server.url() });
  const { status, stdout, stderr } = operator.run(lines);
  const how = withRole ? 'a dump' : 'a dump, into a server without the roles,';
  trial.judge(
    status === 0,
    `${how} is restored by the page; iss audit: ${stdout.trim().split('\n').join(' ')}${status === 0 ? '' : stderr.slice(0, 500)}`,
  );
  return server;
}

await runTrial('restore', async (trial) => {
  const primary = await startPrimary(trial);
  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());
  const service = await TrialService.start(trial, {
    databaseUrl: appUrl(primary, OLD_PASSWORD),
    ownerUrl: primary.url(),
    queueUrl: redis.url,
    workers: 0,
  });
  const witness = await prepareWitness(trial.folder, 'witness', service.vkey);
  await witness.start();
  trial.atEnd(() => witness.stop());
  const policy = trial.path('policy');
  const policyOf = (vkey: string): string => `log ${vkey}\nwitness one ${witness.vkey} ${witness.url}\nquorum one\n`;
  writeFileSync(policy, policyOf(service.vkey));
  service.environment = { ...service.environment, LOG_POLICY_FILE: policy };
  const worker = await service.startOne('webhook-worker');
  // Removed from the list, so that this worker runs to the end of the trial.
  service.workers.pop();
  const operator = new Operator(trial, { OLD_URL: primary.url(), OLD_VKEY: service.vkey, NEW_ORIGIN, NEW_PASSWORD });
  writeFileSync(operator.file('policy'), policyOf(service.vkey));

  const receiver = await DeliveryRecorder.start(trial, service);
  await service.request('POST', '/v1/tenants', { tenant_id: 'reader', name: 'Reader' });
  const grant = await service.request('POST', `/v1/tenants/${TENANT}/grants`, {
    grantee_tenant_id: 'reader',
    subject_type: '*',
    scopes: ['read_latest'],
  });
  const grantId = textAt(JSON.parse(grant.body), 'grant_id');

  const base = folderForPostgres(trial.path('base'));
  const source = `host=127.0.0.1 port=${primary.port} user=postgres`;
  runPostgresProgram('pg_basebackup', ['-d', source, '-D', base, '-X', 'none', '-c', 'fast']);

  const writer = LedgerWriter.start(trial, service);
  await writer.waitForMore(200);

  // A dump during the writing.
  const dumpedAtMs = Date.now();
  const dump = operator.run('pg_dump -Fc -d "$OLD_URL" -f iss.dump');
  if (dump.status !== 0) throw new Error(dump.stderr);
  for (const withRole of [true, false]) {
    const restored = await restoreDump(trial, operator, withRole ? 'dump' : 'dump-without-role', withRole);
    const { lost, altered } = await writer.compareWith(restored.url());
    const early = lost.filter(({ atMs }) => atMs < dumpedAtMs);
    trial.judge(
      early.length === 0 && altered.length === 0,
      `acknowledged before the dump and not in it: ${early.length}, altered: ${altered.length}`,
    );
    await restored.stop();
  }

  // The point in time to restore; then a revocation and more writes.
  await service.waitForLog(primary.url()).catch(() => undefined);
  const momentMs = Date.now();
  const [moment] = await primary.query<{ at: string }>('SELECT clock_timestamp()::text AS at');
  const targetTime = moment?.at ?? '';
  await writer.waitForMore(1);
  await service.request('POST', `/v1/tenants/${TENANT}/grants/${grantId}/revoke`);
  await writer.waitForMore(200);
  await writer.stop();
  const signedSize = await service.waitForLog(primary.url());
  const { stored } = await writer.compareWith(primary.url());
  await receiver.judge(trial, stored);
  iss('monitor', '--log', `${service.gateways[0]?.url}/log`, '--vkey', service.vkey, '--state', operator.file('state'));
  const before = { delivered: receiver.delivered.length, acknowledged: writer.acknowledged.length };
  await primary.query('SELECT pg_switch_wal()');
  await waitFor(
    async () => {
      const [row] = await primary.query<{ done: boolean }>(
        `SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1) AS done FROM pg_stat_archiver`,
      );
      return row?.done;
    },
    { deadlineMs: 60_000, what: 'the archive to have all of the write-ahead log' },
  );

  const [fence = '', restore = '', letIn = '', look = '', compare = '', seen = '', anew = ''] = blocksOf(
    PAGE,
    'Restore to a point in time',
  );
  const must = (name: string, block: string): string => {
    const { status, stdout, stderr } = operator.run(block);
    if (status !== 0) throw new Error(`${PAGE}, ${name}: ${stdout}${stderr}`);
    return stdout;
  };

  // 1.
  await Promise.all(service.gateways.splice(0).map((one) => one.stop(10_000)));
  must('fence', fence);
  const connections = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE usename = 'iss_service'`;
  const held = await waitFor(
    async () => (await primary.query<{ count: number }>(connections))[0]?.count === 0 || undefined,
    { deadlineMs: 20_000 },
  ).catch(() => false);
  trial.judge(held, 'the old worker is fenced: it has no connection to the old database, and gets none');

  // 2.
  const pgdata = trial.path('restored');
  operator.set({
    BASE_BACKUP: base,
    PGDATA: pgdata,
    WAL_ARCHIVE: trial.path('archive'),
    TARGET_TIME: targetTime,
    LOG_CHECKPOINT_FILE: service.checkpointFile(worker.name),
  });
  must('restore', restore);
  folderForPostgres(pgdata);
  const restored = await TrialPostgres.adopt(trial, 'restored', pgdata);
  await restored.start();
  operator.set({ NEW_URL: restored.url() });
  await waitFor(
    async () => (await restored.query<{ ended: boolean }>('SELECT NOT pg_is_in_recovery() AS ended'))[0]?.ended,
    { deadlineMs: 60_000, what: 'the end of the recovery' },
  );
  must('let in', letIn);
  const refused = await query(appUrl(restored, OLD_PASSWORD), 'SELECT 1').then(
    () => false,
    () => true,
  );
  trial.judge(refused, 'the old password does not open the restored database');

  // 3.
  const looked = must('look', look);
  const [signed, there] = looked.split('\n').map(Number);
  trial.judge(
    signed === signedSize && there !== undefined && there < signedSize,
    `${signed} facts were signed, ${there} are there; iss audit: ${looked.split('\n').slice(2).join(' ').trim()}`,
  );
  const checkpoints = async (): Promise<number> =>
    (await restored.query<{ count: number }>('SELECT count(*)::int AS count FROM log_checkpoints'))[0]?.count ?? 0;
  const checkpointsBefore = await checkpoints();
  const rolledBack = async (name: string, environment: Record<string, string>): Promise<void> => {
    const one = await service.startOne('webhook-worker', {
      DATABASE_URL: appUrl(restored, NEW_PASSWORD),
      ...environment,
    });
    const says = await waitFor(
      async () => {
        const { body } = await service.readiness(one);
        return body.includes('rolled_back') ? body : undefined;
      },
      { deadlineMs: 30_000 },
    ).catch(async () => (await service.readiness(one)).body);
    trial.judge(
      says.includes('rolled_back') && (await checkpoints()) === checkpointsBefore,
      `${name} signs nothing on the restored database: ${/"log":\{[^}]*\}/.exec(says)?.[0] ?? says}`,
    );
    await one.stop(10_000);
    service.workers.splice(service.workers.indexOf(one), 1);
  };
  await rolledBack('the old worker', { LOG_CHECKPOINT_FILE: service.checkpointFile(worker.name) });
  await rolledBack('a worker that knows the witness alone', { LOG_CHECKPOINT_FILE: trial.path('none.checkpoint') });

  // 4.
  must('name what is gone', compare);
  const linesOf = (name: string): string[] => readFileSync(operator.file(name), 'utf8').split('\n').filter(Boolean);
  const { lost, altered, stored: kept } = await writer.compareWith(restored.url());
  const early = lost.filter(({ atMs }) => atMs < momentMs);
  trial.judge(
    early.length === 0 && altered.length === 0 && lost.length > 0,
    `acknowledged ${before.acknowledged}, lost after the moment: ${lost.length}, before it: ${early.length}, altered: ${altered.length}`,
  );
  const named = new Set(linesOf('lost-snapshots').map((line) => line.split('|')[0]));
  trial.judge(
    lost.every(({ snapshotId }) => named.has(snapshotId)) &&
      linesOf('lost-revocations')[0]?.startsWith(grantId) === true,
    `named by comparing: ${named.size} snapshots, ${linesOf('lost-revocations').length} revocation`,
  );
  const told = receiver.delivered.map(({ snapshotId }) => snapshotId);
  writeFileSync(operator.file('seen'), `${told.join('\n')}\n`);
  must('name what was seen', seen);
  const expected = [...new Set(told)].filter((id) => !kept.has(id)).sort();
  trial.judge(
    expected.length > 0 && JSON.stringify(linesOf('gone').sort()) === JSON.stringify(expected),
    `delivered to the receiver and lost: ${linesOf('gone').length}, each of them named`,
  );

  // 5. Restored grants that had been revoked are revoked again.
  service.environment = { ...service.environment, DATABASE_URL: appUrl(restored, NEW_PASSWORD) };
  const gateway = await service.startOne('api-gateway');
  const [live] = await restored.query<{ isLive: boolean }>(
    'SELECT revoked_at IS NULL AS "isLive" FROM grants WHERE grant_id = $1',
    [grantId],
  );
  const revoked = await service.request('POST', `/v1/tenants/${TENANT}/grants/${grantId}/revoke`);
  trial.judge(
    live?.isLive === true && revoked.status === 200,
    `the revoked grant was live again, and is revoked again: ${revoked.status}`,
  );
  const monitor = iss(
    ...['monitor', '--log', `${gateway.url}/log`, '--vkey', service.vkey, '--state', operator.file('state')],
  );
  trial.judge(monitor.status === 1, `iss monitor with the previous state: ${monitor.stderr.trim()}`);

  // 6.
  must('begin anew', anew);
  const newVkey = readFileSync(operator.file('new-vkey'), 'utf8').trim();
  await witness.stop();
  writeFileSync(trial.path('witness-logs'), `${service.vkey}\n${newVkey}\n`);
  await witness.start();
  writeFileSync(policy, policyOf(newVkey));
  service.environment = {
    ...service.environment,
    LOG_ORIGIN: NEW_ORIGIN,
    LOG_SIGNING_KEY: readFileSync(operator.file('log-2.key'), 'utf8').trim(),
  };
  await service.startOne('webhook-worker', { LOG_CHECKPOINT_FILE: service.checkpointFile(worker.name) });
  const again = LedgerWriter.start(trial, service);
  await again.waitForMore(100);
  await again.stop();
  const { stored: all } = await judgeLedger(trial, again, restored.url());
  await receiver.judge(trial, all);
  const bodies = new Map<string, string>();
  const differing = receiver.delivered.filter(({ eventId, body }) => {
    const known = bodies.get(eventId) ?? body.toString('base64');
    bodies.set(eventId, known);
    return known !== body.toString('base64');
  });
  trial.judge(
    differing.length === 0,
    `delivered again after the restore: ${receiver.delivered.length - bodies.size} events, of which with other bytes: ${differing.length}`,
  );
  await service.judgeLog(trial, restored.url(), newVkey);
});
