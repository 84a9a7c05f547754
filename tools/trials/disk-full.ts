import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startOwnRedis } from '../redis.ts';
import { waitFor } from '../testing/wait-for.ts';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { TrialPostgres } from './frame/postgres.ts';
import { TrialService } from './frame/service.ts';
import { runTrial } from './frame/trial.ts';

/**
 * `npm run trial -- disk-full`: runs PostgreSQL on a small file system in memory, which is filled completely while a writer
 * writes, and emptied again. Needs root to mount it.
 */
const SIZE = '700m';
const BEFORE_MS = 2_000;
const FULL_MS = 15_000;

/** Fills all free space with ever smaller pieces. */
function fill(file: string, folder: string): void {
  const handle = openSync(file, 'w');
  try {
    for (let piece = 2 ** 20; piece >= 512; piece /= 2) {
      for (;;) {
        try {
          if (writeSync(handle, Buffer.alloc(piece)) < piece) break;
        } catch {
          break;
        }
        if (statfsSync(folder).bavail === 0) return;
      }
    }
  } finally {
    closeSync(handle);
  }
}

await runTrial('disk-full', async (trial) => {
  if (process.getuid?.() !== 0) return trial.skip('a separate file system needs root');
  const disk = trial.path('disk');
  mkdirSync(disk);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0755`, 'tmpfs', disk], {
    encoding: 'utf8',
  });
  if (mounted.status !== 0) return trial.skip(`a separate file system cannot be mounted: ${mounted.stderr.trim()}`);
  trial.atEnd(() => spawnSync('umount', ['-l', disk]));
  const server = await TrialPostgres.create(
    trial,
    'primary',
    { max_wal_size: '64MB', min_wal_size: '32MB' },
    join(disk, 'data'),
  );
  await server.start();
  await server.query('CREATE DATABASE iss', [], 'postgres');
  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());
  const service = await TrialService.start(trial, { databaseUrl: server.url(), queueUrl: redis.url });
  const receiver = await DeliveryRecorder.start(trial, service);
  const writer = LedgerWriter.start(trial, service);
  await pause(BEFORE_MS);
  await writer.waitForMore(50);

  const ballast = join(disk, 'ballast');
  const fullFromMs = Date.now();
  let restarts = 0;
  while (Date.now() < fullFromMs + FULL_MS) {
    fill(ballast, disk);
    // Without space for its write-ahead log PostgreSQL exits, and its supervisor restarts it.
    if (!server.running) {
      await server.start().then(
        () => restarts++,
        () => undefined,
      );
    }
    await pause(250);
  }
  const refused = [...writer.statuses].filter(([status]) => status !== 201);
  trial.judge(
    refused.length > 0 && refused.every(([status]) => status === 503 || status === 0),
    `while the disk is full: ${writer.summary}; PostgreSQL was restarted ${restarts} times; the first 503: ${writer.refusals.get(503) ?? 'none'}`,
  );
  const [gateway] = service.gateways;
  const readiness = gateway === undefined ? undefined : await service.readiness(gateway);
  trial.judge(
    readiness?.status === 200 || readiness?.status === 503,
    `readiness meanwhile: ${readiness?.status} ${readiness?.body}`,
  );

  rmSync(ballast);
  if (!server.running) await server.start();
  const emptyAtMs = Date.now();
  const goesOnAfterMs = (await writer.firstAfter(emptyAtMs)) - emptyAtMs;
  trial.judge(goesOnAfterMs < 15_000, `the first write ${goesOnAfterMs} ms after space was free`);
  await pause(BEFORE_MS);
  await writer.stop();
  await waitFor(async () => (await server.query('SELECT 1')).length === 1, { deadlineMs: 30_000 });
  const { stored } = await judgeLedger(trial, writer, server.url());
  await receiver.judge(trial, stored);
  await service.judgeLog(trial, server.url());
});
