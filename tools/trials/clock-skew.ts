import { dirname, join } from 'node:path';
import { startOwnRedis } from '../redis.ts';
import { waitFor } from '../testing/wait-for.ts';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { programOf } from './frame/packages.ts';
import { TrialPostgres } from './frame/postgres.ts';
import type { AppName } from '../testing/product-process.ts';
import { TrialService } from './frame/service.ts';
import { runTrial } from './frame/trial.ts';

/**
 * `npm run trial -- clock-skew`: runs gateways, then workers, with clocks ten minutes ahead of and behind PostgreSQL's
 * (libfaketime), while a writer writes through all gateways. PostgreSQL sets the times of rows, so only warnings may result.
 */
const SKEWS = ['+600', '-600'] as const;
const TOLD_MS = 30_000;
/**
 * A delivery must reach the receiver within this time after its write was acknowledged. Workers use their own clock
 * only for durations.
 */
const DELIVERED_WITHIN_MS = 15_000;

await runTrial('clock-skew', async (trial) => {
  const server = await TrialPostgres.create(trial, 'primary');
  await server.start();
  await server.query('CREATE DATABASE iss', [], 'postgres');
  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());
  const service = await TrialService.start(trial, { databaseUrl: server.url(), queueUrl: redis.url });
  const receiver = await DeliveryRecorder.start(trial, service);
  const faked = (skew: string): Record<string, string> => ({
    LD_PRELOAD: join(dirname(programOf('faketime')), 'libfaketimeMT.so.1'),
    FAKETIME: `${skew}s`,
    // Timers use the monotonic clock, which has no skew.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  });

  const judgeReadiness = async (app: AppName, skew: string): Promise<void> => {
    const one = await service.startOne(app, faked(skew));
    const told = await waitFor(
      async () => {
        const answer = await service.readiness(one);
        return /"clock":\{"status":"degraded"/.test(answer.body) ? answer : undefined;
      },
      { deadlineMs: TOLD_MS },
    ).catch(async () => service.readiness(one));
    trial.judge(
      told.status === 200 && /"clock":\{"status":"degraded"/.test(told.body),
      `${app}, ${skew} s: readiness ${told.status}, ${/"clock":\{[^}]*\}/.exec(told.body)?.[0] ?? told.body}`,
    );
  };
  for (const skew of SKEWS) await judgeReadiness('api-gateway', skew);
  const writer = LedgerWriter.start(trial, service, { writers: 6 });
  await writer.waitForMore(300);

  // Then the workers: first the skewed ones with a correct one, then only the skewed ones.
  for (const skew of SKEWS) await judgeReadiness('webhook-worker', skew);
  await writer.waitForMore(300);
  const [right] = service.workers.splice(0, 1);
  await right?.stop(15_000);
  const aloneFromMs = Date.now();
  await writer.waitForMore(300);
  await writer.stop();

  const { stored } = await judgeLedger(trial, writer, server.url());
  await receiver.judge(trial, stored);
  const arrived = new Map(receiver.delivered.map(({ snapshotId, atMs }) => [snapshotId, atMs]));
  const late = writer.acknowledged
    .filter(({ atMs }) => atMs > aloneFromMs)
    .map(({ snapshotId, atMs }) => (arrived.get(snapshotId) ?? Infinity) - atMs);
  trial.judge(
    Math.max(...late) < DELIVERED_WITHIN_MS,
    `delivered while all workers had wrong clocks: ${late.length}, the last one ${Math.max(...late)} ms after its acknowledgement`,
  );
  const [row] = await server.query<{ wrong: number }>(
    `SELECT count(*)::int AS wrong FROM snapshots WHERE abs(extract(epoch FROM created_at - now())) > 300`,
  );
  trial.judge(row?.wrong === 0, `snapshots with a created_at that is not PostgreSQL’s: ${row?.wrong}`);
  await service.judgeLog(trial, server.url());
});
