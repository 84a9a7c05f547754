import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { applyMigrations } from '../db/apply-migrations.ts';
import { startOwnRedis } from '../redis.ts';
import { repositoryRoot } from '../root.ts';
import { textAt } from '../testing/text-at.ts';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { envelopeOf, judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { TrialPostgres } from './frame/postgres.ts';
import { type Answered, TENANT, TrialService } from './frame/service.ts';
import { runTrial, type Trial } from './frame/trial.ts';

/**
 * `npm run trial -- upgrade [-- COMMIT]`: builds and starts the previous release (its commit is in `previous-release`). While
 * writers and readers run, it migrates the database, starts this release and stops the old one. No request may fail.
 */
const PHASE_MS = 5_000;
const USERS = 3;
/** The quiet time of connections that callers of the old gateways keep. */
const QUIET_MS = 1_000;
const GRANTEE = 'partner';

/** Checks out a commit into a folder of the trial, and builds it with its own tools and the installed packages. */
function checkOut(trial: Trial, commit: string): string {
  const folder = trial.path('previous');
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', '--format=tar', commit], { cwd: repositoryRoot, maxBuffer: 2 ** 29 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const [here, there] = [join(repositoryRoot, 'node_modules'), join(folder, 'node_modules')];
  mkdirSync(join(there, '@iss'), { recursive: true });
  // Links its own libraries, not those of this release with the same names.
  for (const name of readdirSync(here).filter((entry) => !entry.startsWith('.') && entry !== '@iss')) {
    symlinkSync(realpathSync(join(here, name)), join(there, name));
  }
  for (const file of globSync('{apps,libs}/*/package.json', { cwd: folder })) {
    const { name }: { name: string } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    if (name.startsWith('@iss/')) symlinkSync(join(folder, dirname(file)), join(there, name));
  }
  cpSync(join(here, '.bin'), join(there, '.bin'), { recursive: true, verbatimSymlinks: true });
  return folder;
}

/** Migrates with that release, which also builds it. */
function migrateBy(folder: string, databaseUrl: string, queueUrl: string): void {
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'tools/db/migrate.ts')], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: databaseUrl, QUEUE_URL: queueUrl },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The previous release does not build or migrate: ${stderr}`);
}

/** Repeats requests that both releases support, and records unexpected responses. */
class User {
  readonly failures: string[] = [];
  requests = 0;
  private readonly service: TrialService;

  constructor(service: TrialService) {
    this.service = service;
  }

  async work(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.turn().catch((error: unknown) => this.failures.push(String(error)));
  }

  /** Runs through the life of a subject, from its first version to a revoked grant. */
  private async turn(): Promise<void> {
    const subjectId = randomUUID();
    const subject = `/v1/tenants/${TENANT}/subjects/organization/${subjectId}`;
    await this.call('POST', `/v1/tenants/${TENANT}/entity-states`, envelopeOf(subjectId));
    const proposed = await this.call('POST', `${subject}/updates`, {
      subject_id: subjectId,
      base_snapshot_version: 1,
      patch_ops: [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Renamed' }],
    });
    const grant = await this.call('POST', `/v1/tenants/${TENANT}/grants`, {
      grantee_tenant_id: GRANTEE,
      subject_type: 'organization',
      subject_id: subjectId,
      scopes: ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'],
    });
    const requests = `/v1/subjects/organization/${subjectId}/refresh-requests`;
    await this.call('POST', requests, { requesting_tenant_id: GRANTEE, reason_code: 'trial', requested_paths: [] });
    await this.call('POST', `${subject}/updates/${textAt(proposed, 'update_id')}/apply`);
    const shared = `/v1/tenants/${GRANTEE}/subjects/organization/${subjectId}`;
    for (const path of [
      `${subject}/snapshots/latest?verify=chain&depth=all`,
      `${shared}/snapshots/latest`,
      `${shared}/history`,
      `${shared}/diff?from_version=1&to_version=2`,
      `${shared}/chain-proof`,
      `${subject}/updates`,
      `${requests}?requesting_tenant_id=${GRANTEE}`,
      `/v1/tenants/${TENANT}/subjects?subject_id_prefix=${subjectId}`,
      `/v1/tenants/${GRANTEE}/accessible-subjects?limit=5`,
      `/v1/tenants/${TENANT}/grants?limit=5`,
      `/v1/tenants/${TENANT}/principals`,
    ]) {
      await this.call('GET', path);
    }
    await this.call('POST', `/v1/tenants/${TENANT}/grants/${textAt(grant, 'grant_id')}/revoke`);
  }

  private async call(method: string, path: string, body?: object): Promise<unknown> {
    const answer: Answered = await this.service.request(method, path, body);
    this.requests += 1;
    if (answer.status < 200 || answer.status > 299) {
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
    }
    return JSON.parse(answer.body);
  }
}

await runTrial('upgrade', async (trial) => {
  const [named] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
  const commit = named ?? readFileSync(join(import.meta.dirname, 'previous-release'), 'utf8').trim();
  const postgres = await TrialPostgres.create(trial, 'postgresql', { log_lock_waits: 'on', deadlock_timeout: '1s' });
  await postgres.start();
  await postgres.query('CREATE DATABASE iss', [], 'postgres');
  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());
  trial.say(`building ${commit} …`);
  const build = checkOut(trial, commit);
  migrateBy(build, postgres.url(), redis.url);

  const service = await TrialService.start(trial, {
    databaseUrl: postgres.url(),
    queueUrl: redis.url,
    gateways: 2,
    build,
  });
  const founded = await service.request('POST', '/v1/tenants', { tenant_id: GRANTEE, name: 'Partner' });
  if (founded.status !== 201) throw new Error(founded.body);
  const principal = encodeURIComponent('oidc:local#dev');
  await service.request('PUT', `/v1/tenants/${GRANTEE}/principals/${principal}`, { allow_counterparty_access: true });
  const receiver = await DeliveryRecorder.start(trial, service);
  const writer = LedgerWriter.start(trial, service, { writers: 3 });
  const users = Array.from({ length: USERS }, () => new User(service));
  let isOver = false;
  trial.atEnd(() => (isOver = true));
  const working = Promise.all(users.map((user) => user.work(() => isOver)));
  const phases = new Map<string, number>();
  const failures = (): string[] => users.flatMap((user) => user.failures);
  const done = (): number => users.reduce((sum, { requests }) => sum + requests, writer.acknowledged.length);
  const phase = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const [doneBefore, failedBefore] = [done(), failures().length];
    trial.say(name);
    await work();
    phases.set(name, done() - doneBefore);
    for (const failure of failures().slice(failedBefore, failedBefore + 3)) trial.say(failure);
  };

  await phase('the previous release', () => pause(PHASE_MS));
  await phase('the database is migrated', async () => {
    const applied = await applyMigrations(postgres.url(), redis.url, (line) => trial.say(line));
    trial.judge(applied.length > 0, `${applied.length} migrations ran while the previous release served requests`);
  });
  await phase('the previous release, on the new schema', () => pause(PHASE_MS));
  const old = [...service.gateways, ...service.workers];
  await phase('both releases', async () => {
    await Promise.all([
      service.startOne('api-gateway'),
      service.startOne('api-gateway'),
      service.startOne('webhook-worker'),
    ]);
    await pause(PHASE_MS);
  });
  await phase('the old one is stopped', async () => {
    service.gateways.splice(0, 2);
    service.workers.splice(0, 1);
    await pause(QUIET_MS);
    for (const one of old) await one.stop(15_000);
  });
  await phase('this release', () => pause(PHASE_MS));
  isOver = true;
  await working;
  await writer.stop();

  for (const [name, requests] of phases) trial.judge(requests > 0, `${name}: ${requests} requests`);
  trial.judge(failures().length === 0, `requests that failed: ${failures().length} ${failures()[0] ?? ''}`);
  const { stored } = await judgeLedger(trial, writer, postgres.url());
  trial.judge(
    [...writer.statuses.keys()].join() === '201',
    `no write was refused ${[...writer.refusals.values()].join(' ')}`,
  );
  const waits = [...postgres.log().matchAll(/still waiting for \w+Lock on relation.*/g)].map(([line]) => line);
  trial.judge(waits.length === 0, `waits for a table of more than a second: ${waits.length} ${waits[0] ?? ''}`);
  await receiver.judge(trial, stored);
  await service.judgeLog(trial, postgres.url());
  trial.judge(service.faults.length === 0, `processes that ended unexpectedly: ${service.faults.join('; ') || 'none'}`);
});
