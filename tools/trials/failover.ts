import { setTimeout as pause } from 'node:timers/promises';
import { startOwnRedis } from '../redis.ts';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { PASSWORD, TrialPostgres } from './frame/postgres.ts';
import { TrialService } from './frame/service.ts';
import { runTrial } from './frame/trial.ts';

/**
 * `npm run trial -- failover`: kills the primary of a PostgreSQL with a synchronous standby (kill -9) and promotes the standby
 * while a writer writes. The gateway and the worker know both hosts. Before that, `iss audit` reads the standby.
 */
const WRITERS = 8;
const BEFORE_MS = 3_000;
const AFTER_MS = 5_000;
/** The maximum gap that the service adds to the gap of the database. */
const OWN_GAP_MS = 1_000;

await runTrial('failover', async (trial) => {
  const { primary, standby } = await TrialPostgres.synchronousPair(trial);
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());
  const service = await TrialService.start(trial, {
    databaseUrl: `postgres://postgres:${PASSWORD}@${hosts}/iss?target_session_attrs=read-write`,
    queueUrl: redis.url,
  });
  const receiver = await DeliveryRecorder.start(trial, service);
  const writer = LedgerWriter.start(trial, service, { writers: WRITERS, pauseMs: 0 });
  await pause(BEFORE_MS);
  for (const options of [['--vkey', service.vkey], ['--no-log']]) {
    const { status, line } = service.audit(standby.url(), options);
    trial.judge(status === 0, `iss audit ${options[0]} of the standby, while it is written to: ${line}`);
  }
  await pause(BEFORE_MS);

  const killedAtMs = Date.now();
  await primary.stop('SIGKILL');
  standby.promote();
  const promotedAtMs = Date.now();
  await writer.firstAfter(promotedAtMs);
  const gapMs = writer.longestGapMs(killedAtMs - BEFORE_MS / 2);
  const ownMs = promotedAtMs - killedAtMs;
  await pause(AFTER_MS);
  await writer.stop();

  const { stored } = await judgeLedger(trial, writer, standby.url());
  trial.judge(gapMs <= ownMs + OWN_GAP_MS, `no write for ${gapMs} ms, of which the database took ${ownMs}`);
  await receiver.judge(trial, stored);
  await service.judgeLog(trial, standby.url());
});
