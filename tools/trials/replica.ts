import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { reservePort } from '../processes.ts';
import { addLineage } from '../testing/lineage.ts';
import { waitFor } from '../testing/wait-for.ts';
import { envelopeOf, judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { TrialPostgres } from './frame/postgres.ts';
import { TENANT, TrialService } from './frame/service.ts';
import { runTrial, type Trial } from './frame/trial.ts';

/**
 * `npm run trial -- replica`: uses a streaming standby as `DATABASE_REPLICA_URL`, with a writer and four readers that export a
 * long history repeatedly. The standby's replay is paused while versions are written and erased. Then the standby hangs, is
 * killed, and finally is promoted and writes its own history.
 */
const VERSIONS = 400;
const PADDING = 2_000;
const READERS = 4;
/** The gateway gives up a hanging standby after half a second, and detects it within two. */
const LONGEST_MS = 3_000;
const ERASED = 'Zacharias Geheim';
const OUTCOMES = ['answered', 'behind', 'differs', 'failed', 'away'] as const;
type Outcomes = Record<(typeof OUTCOMES)[number], number>;

/** Exports a subject until it is stopped, and records faults. */
class Readers {
  count = 0;
  longestMs = 0;
  readonly wrong: string[] = [];
  private isReading = true;
  private readonly ended: Promise<unknown>;
  private readonly service: TrialService;
  private readonly subjectId: string;

  constructor(service: TrialService, subjectId: string) {
    this.service = service;
    this.subjectId = subjectId;
    this.ended = Promise.all(Array.from({ length: READERS }, () => this.read()));
  }

  async stop(): Promise<void> {
    this.isReading = false;
    await this.ended;
  }

  async waitForMore(count: number): Promise<void> {
    const goal = this.count + count;
    await waitFor(() => this.count >= goal, { deadlineMs: 60_000, what: `${count} more exports` });
  }

  private async read(): Promise<void> {
    while (this.isReading) {
      const startedAt = performance.now();
      const { status, body } = await this.service.request('GET', `${pathOf(this.subjectId)}/export.ndjson`);
      const lines = body.split('\n').length - 1;
      if (status !== 200 || lines < VERSIONS) this.wrong.push(`${status}, ${lines} lines: ${body.slice(0, 200)}`);
      this.count += 1;
      this.longestMs = Math.max(this.longestMs, performance.now() - startedAt);
    }
  }
}

const pathOf = (subjectId: string): string => `/v1/tenants/${TENANT}/subjects/organization/${subjectId}`;

async function outcomesAt(metricsPort: number): Promise<Outcomes> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const of = (outcome: string): number => {
    const found = new RegExp(`^database_replica_reads_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)`, 'm').exec(
      text,
    );
    return Number(found?.[1] ?? 0);
  };
  return {
    answered: of('answered'),
    behind: of('behind'),
    differs: of('differs'),
    failed: of('failed'),
    away: of('away'),
  };
}

function since(before: Outcomes, after: Outcomes): string {
  return OUTCOMES.filter((name) => after[name] > before[name])
    .map((name) => `${name} ${after[name] - before[name]}`)
    .join(', ');
}

/** Returns the rows of `snapshots` that this server's statements have fetched. */
async function fetched(server: TrialPostgres): Promise<number> {
  const [row] = await server.query<{ rows: string }>(
    `SELECT idx_tup_fetch::text AS rows FROM pg_stat_user_tables WHERE relname = 'snapshots'`,
  );
  return Number(row?.rows);
}

/** Idle backends report their statistics within ten seconds. */
const TOLD_MS = 11_000;

/** Returns the rows of `snapshots` that a server fetches for an export. */
async function rowsOfExport(server: TrialPostgres, service: TrialService, path: string, url?: string): Promise<number> {
  await pause(TOLD_MS);
  const before = await fetched(server);
  await service.request('GET', path, undefined, url);
  await pause(TOLD_MS);
  return (await fetched(server)) - before;
}

async function subjectWith(primary: TrialPostgres, versions: number): Promise<string> {
  const subjectId = randomUUID();
  const superuser = new Client({ connectionString: primary.url() });
  await superuser.connect();
  await addLineage(superuser, { tenantId: TENANT, subjectType: 'organization', subjectId }, versions, PADDING);
  await superuser.end();
  return subjectId;
}

/** Writes a version of a subject with this name. */
async function write(
  service: TrialService,
  subjectId: string,
  version: number,
  name: string,
  url?: string,
): Promise<void> {
  const attributes = { legal: { legal_name: name } };
  const body = { ...envelopeOf(subjectId, version), attributes };
  const answer = await service.request('POST', `/v1/tenants/${TENANT}/entity-states`, body, url);
  if (answer.status !== 201) throw new Error(`Not written: ${answer.status} ${answer.body}`);
}

async function erase(service: TrialService, subjectId: string, versions: number[]): Promise<void> {
  const body = { versions, reason: 'a letter' };
  const erased = await service.request('POST', `${pathOf(subjectId)}/erasure`, body);
  if (erased.status !== 201) throw new Error(`Not erased: ${erased.status} ${erased.body}`);
}

await runTrial('replica', async (trial: Trial) => {
  const primary = await TrialPostgres.create(trial, 'primary');
  await primary.start();
  const standby = await primary.standby('standby', { hot_standby_feedback: 'on' });
  await standby.start();
  await primary.query('CREATE DATABASE iss', [], 'postgres');
  const metricsPort = await reservePort();
  const service = await TrialService.start(trial, {
    databaseUrl: primary.url(),
    workers: 0,
    environment: { DATABASE_REPLICA_URL: standby.url(), METRICS_PORT: String(metricsPort) },
  });
  await service.startOne('webhook-worker', { METRICS_PORT: '0' });
  const alone = await service.startOne('api-gateway', { DATABASE_REPLICA_URL: '', METRICS_PORT: '0' });
  // From here on, requests go to the gateway with the replica by default.
  service.gateways.pop();
  const [gateway] = service.gateways;
  if (gateway === undefined) throw new Error('No gateway was started');
  const caughtUp = async (): Promise<void> => {
    const [row] = await primary.query<{ position: string }>('SELECT pg_current_wal_lsn()::text AS position');
    const isThere = async (): Promise<boolean> =>
      (await standby.query(`SELECT WHERE pg_last_wal_replay_lsn() >= $1::pg_lsn`, [row?.position])).length === 1;
    await waitFor(isThere, { deadlineMs: 30_000, what: 'the standby to catch up' });
  };
  const during = async (work: () => Promise<void>): Promise<Outcomes & { text: string }> => {
    const before = await outcomesAt(metricsPort);
    await work();
    const after = await outcomesAt(metricsPort);
    const changes = OUTCOMES.map((name): [string, number] => [name, after[name] - before[name]]);
    return { ...(Object.fromEntries(changes) as Outcomes), text: since(before, after) };
  };
  const isReady = async (word: string): Promise<boolean> =>
    (await service.readiness(gateway)).body.includes(`"replica":{"status":"${word}"`);

  await primary.query(
    `SET session_replication_role = replica; UPDATE tenants SET erasure_confirmation = 'off'; RESET session_replication_role`,
  );
  const long = await subjectWith(primary, VERSIONS);
  const small = randomUUID();
  for (const version of [1, 2, 3]) await write(service, small, version, `${ERASED} ${version}`);
  await service.waitForLog(primary.url());
  await caughtUp();
  await waitFor(() => isReady('ok'), { deadlineMs: 30_000, what: 'the replica to be seen' });

  const path = `${pathOf(long)}/export.ndjson`;
  const without = await rowsOfExport(primary, service, path, alone.url);
  const beside = await rowsOfExport(primary, service, path);
  trial.judge(
    beside * 20 < without,
    `an export of ${VERSIONS} versions has the primary fetch ${beside} rows of snapshots, ${without} without a replica`,
  );

  const writer = LedgerWriter.start(trial, service, { writers: 2, pauseMs: 20 });
  const readers = new Readers(service, long);
  const following = await during(() => readers.waitForMore(40));
  trial.judge(following.answered > 0 && following.failed === 0, `following: ${following.text}`);

  await standby.query('SELECT pg_wal_replay_pause()');
  await write(service, long, VERSIONS + 1, 'Written while the replica lags');
  await erase(service, small, [2]);
  const lagging = await during(async () => {
    const exported = (await service.request('GET', `${pathOf(small)}/export.ndjson`)).body;
    trial.judge(
      exported.includes(`${ERASED} 1`) && !exported.includes(`${ERASED} 2`),
      'erased content is not shown, although the replica still has it',
    );
    const { body } = await service.request('GET', path);
    trial.judge(body.includes('Written while the replica lags'), 'a version that the replica lacks is shown');
    await readers.waitForMore(20);
  });
  trial.judge(lagging.behind > 0 && lagging.answered > 0, `replay paused: ${lagging.text}`);
  await standby.query('SELECT pg_wal_replay_resume()');
  await caughtUp();

  standby.pause(true);
  const hanging = await during(async () => {
    await waitFor(() => isReady('degraded'), { deadlineMs: 30_000, what: 'readiness to say so' });
    await readers.waitForMore(20);
  });
  const { status } = await service.readiness(gateway);
  trial.judge(status === 200 && hanging.away > 0, `hanging: ${hanging.text}; readiness ${status}`);
  standby.pause(false);
  await waitFor(() => isReady('ok'), { deadlineMs: 30_000, what: 'the replica to be seen again' });

  await standby.stop('SIGKILL');
  const killed = await during(() => readers.waitForMore(20));
  trial.judge(killed.answered === 0 || killed.away > 0, `killed: ${killed.text}`);
  // Readiness reports the last observation, so this one must appear before the next fault.
  await waitFor(() => isReady('degraded'), { deadlineMs: 30_000, what: 'the replica to be missed' });
  await standby.start();
  await waitFor(() => isReady('ok'), { deadlineMs: 30_000, what: 'the replica to be seen again' });
  await caughtUp();
  const again = await during(() => readers.waitForMore(20));
  trial.judge(again.answered > 0, `started again: ${again.text}`);
  await readers.stop();
  trial.judge(
    readers.wrong.length === 0 && readers.longestMs <= LONGEST_MS,
    `${readers.count} exports, of which failed or incomplete: ${readers.wrong.length} ${readers.wrong[0] ?? ''}; the longest took ${readers.longestMs.toFixed(0)} ms`,
  );
  await writer.stop();
  await judgeLedger(trial, writer, primary.url());

  standby.promote();
  const own = await service.startOne('api-gateway', {
    DATABASE_URL: standby.url(),
    DATABASE_REPLICA_URL: '',
    METRICS_PORT: '0',
  });
  service.gateways.pop();
  await write(service, long, VERSIONS + 2, 'A history of its own', own.url);
  await write(service, long, VERSIONS + 2, 'History of the primary', gateway.url);
  const apart = await during(async () => {
    const { body } = await service.request('GET', path);
    trial.judge(
      body.includes('History of the primary') && !body.includes('A history of its own'),
      'versions of a promoted standby are not shown as the history of the primary',
    );
  });
  trial.judge(apart.differs > 0, `promoted: ${apart.text}`);
});
