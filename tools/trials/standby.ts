import { setTimeout as pause } from 'node:timers/promises';
import { startOwnRedis } from '../redis.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { TrialPostgres } from './frame/postgres.ts';
import { TrialService } from './frame/service.ts';
import { runTrial } from './frame/trial.ts';

/**
 * `npm run trial -- standby`: kills the synchronous standby for 50 seconds while writers write. Commits wait for it, and no
 * timeout of PostgreSQL ends that. Then the standby returns. Finally the primary is killed and the standby promoted.
 */
const WRITERS = 40;
const BEFORE_MS = 3_000;
const AWAY_MS = 50_000;
const POOL_SIZE = 10;
/** The tolerance for server connections that are ending or that only check. */
const SPARE = 4;
/** The maximum wait for a connection plus a statement. */
const LONGEST_ANSWER_MS = 20_000;

await runTrial('standby', async (trial) => {
  const { primary, standby } = await TrialPostgres.synchronousPair(trial);
  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());
  const service = await TrialService.start(trial, {
    databaseUrl: primary.url(),
    queueUrl: redis.url,
    environment: { DATABASE_POOL_SIZE: String(POOL_SIZE) },
  });
  const writer = LedgerWriter.start(trial, service, { writers: WRITERS });
  await pause(BEFORE_MS);

  await standby.stop('SIGKILL');
  const awayFromMs = Date.now();
  const servers = { most: 0, waiting: 0 };
  let slowestMs = 0;
  while (Date.now() < awayFromMs + AWAY_MS) {
    const [seen] = await primary.query<{ all: number; waiting: number }>(
      `SELECT count(*)::int AS "all", count(*) FILTER (WHERE wait_event = 'SyncRep')::int AS waiting
         FROM pg_stat_activity WHERE application_name IN ('api-gateway', 'webhook-worker')`,
    );
    servers.most = Math.max(servers.most, seen?.all ?? 0);
    servers.waiting = Math.max(servers.waiting, seen?.waiting ?? 0);
    const askedAtMs = Date.now();
    const { status } = await service.request('GET', '/v1/tenants');
    slowestMs = Math.max(slowestMs, Date.now() - askedAtMs);
    if (status !== 200 && status !== 503) trial.judge(false, `a read was answered ${status}`);
    await pause(250);
  }
  trial.judge(
    servers.most <= 2 * POOL_SIZE + SPARE && servers.waiting > 0,
    `servers of gateway and worker at most: ${servers.most}, of which waited for the standby: ${servers.waiting}`,
  );
  trial.judge(slowestMs < LONGEST_ANSWER_MS, `slowest read meanwhile: ${slowestMs} ms`);
  const acknowledgedMeanwhile = writer.acknowledged.filter(({ askedAtMs }) => askedAtMs > awayFromMs).length;
  trial.judge(acknowledgedMeanwhile === 0, `acknowledged without the standby: ${acknowledgedMeanwhile}`);
  trial.judge(writer.longestRefusalMs < LONGEST_ANSWER_MS, `slowest refusal: ${writer.longestRefusalMs} ms`);

  const backAtMs = Date.now();
  await standby.start();
  await primary.untilSynchronous();
  const againMs = await writer.firstAfter(backAtMs);
  trial.say(`the first write ${againMs - backAtMs} ms after the standby was started`);
  await writer.waitForMore(100);
  await writer.stop();
  await primary.stop('SIGKILL');
  standby.promote();
  await judgeLedger(trial, writer, standby.url());
  trial.judge(
    [...writer.statuses.keys()].every((status) => status === 201 || status === 503),
    `nothing but 201 and 503: ${writer.summary}`,
  );
});
