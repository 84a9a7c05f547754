import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { OwnRedis } from '../redis.ts';
import { command, kill, startCluster, startSentinelGroup } from '../testing/redis-groups.ts';
import { waitFor } from '../testing/wait-for.ts';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { TrialPostgres } from './frame/postgres.ts';
import { TrialService } from './frame/service.ts';
import { runTrial, type Trial } from './frame/trial.ts';

/**
 * `npm run trial -- redis`: kills, demotes, hangs and empties a primary with a replica and three Sentinels, then a Cluster, while
 * clients write. No write may wait for Redis, every event must be delivered, and Redis must be used again afterwards.
 */
const WRITERS = 4;
const PAUSE_MS = 10;
const HANG_MS = 8_000;
const SEEN_MS = 1_100;
const SETTLED_MS = 2_000;
/** No write may wait for the queue. This tolerance is for a busy machine. */
const MAX_GAP_MS = 1_500;
const MAX_GROWTH_MIB = 100;

/** Returns the resident memory of a process in MiB. */
function residentMib(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

/** Records the readiness of processes. */
class Watch {
  readonly statuses = new Set<number>();
  readonly queue = new Set<string>();
  private isWatching = true;
  private readonly service: TrialService;
  private readonly ended: Promise<void>;

  constructor(service: TrialService) {
    this.service = service;
    this.ended = this.watch();
  }

  async stop(): Promise<void> {
    this.isWatching = false;
    await this.ended;
  }

  private async watch(): Promise<void> {
    while (this.isWatching) {
      for (const process of [...this.service.gateways, ...this.service.workers]) {
        const { status, body } = await this.service.readiness(process);
        this.statuses.add(status);
        this.queue.add(/"queue":\{([^}]*)\}/.exec(body)?.[1] ?? 'nothing');
      }
      await pause(100);
    }
  }
}

/** Waits until every process reports the queue as available. */
async function untilUsed(service: TrialService): Promise<void> {
  for (const process of [...service.gateways, ...service.workers]) {
    const isWell = async (): Promise<boolean> =>
      (await service.readiness(process)).body.includes('"queue":{"status":"ok"}');
    await waitFor(isWell, { deadlineMs: 60_000, what: `${process.name} to use Redis` });
  }
}

/** Causes a fault under load, and judges the effect on the writer and the probes. */
async function suffer(
  trial: Trial,
  service: TrialService,
  writer: LedgerWriter,
  what: string,
  fault: () => Promise<unknown>,
): Promise<void> {
  const watch = new Watch(service);
  const fromMs = Date.now();
  await fault();
  const struckMs = Date.now();
  // Readiness can be one second old.
  await pause(SEEN_MS);
  await untilUsed(service);
  const usedMs = Date.now();
  await writer.waitForMore(50);
  await pause(SETTLED_MS);
  await watch.stop();
  const gapMs = writer.longestGapMs(fromMs);
  trial.judge(
    gapMs <= MAX_GAP_MS && [...watch.statuses].every((status) => status === 200),
    `${what}: no write for ${gapMs} ms at most; readiness ${[...watch.statuses].join(', ')}, queue ${[...watch.queue].join(' / ')}; used again within ${usedMs - struckMs} ms`,
  );
}

await runTrial('redis', async (trial) => {
  const postgres = await TrialPostgres.create(trial, 'primary');
  await postgres.start();
  await postgres.query('CREATE DATABASE iss', [], 'postgres');
  const [sentinels, cluster] = [await startSentinelGroup(3), await startCluster()];
  trial.atEnd(() => Promise.all([sentinels.stop(), cluster.stop()]));
  const service = await TrialService.start(trial, { databaseUrl: postgres.url(), queueUrl: sentinels.queueUrl });
  const receiver = await DeliveryRecorder.start(trial, service);
  const writer = LedgerWriter.start(trial, service, { writers: WRITERS, pauseMs: PAUSE_MS });
  await writer.waitForMore(200);
  await untilUsed(service);
  const processes = [...service.gateways, ...service.workers];
  const before = processes.map(({ pid }) => residentMib(pid));

  const promoted = async (from: OwnRedis): Promise<OwnRedis> => {
    const isAnother = async (): Promise<boolean> => (await sentinels.primary()).port !== from.port;
    await waitFor(isAnother, { deadlineMs: 60_000, what: 'the Sentinels to name another primary' });
    return sentinels.primary();
  };
  /** Waits until there is a replica to promote. */
  const followed = async (primary: OwnRedis): Promise<void> => {
    const isFollowed = async (): Promise<boolean> =>
      String(await command(primary, 'info', 'replication')).includes('state=online');
    await waitFor(isFollowed, { deadlineMs: 90_000, what: 'a replica of the primary' });
  };

  await suffer(trial, service, writer, 'the primary is killed (Sentinel)', async () => {
    const primary = await sentinels.primary();
    await kill(primary);
    await promoted(primary);
    await sentinels.restart(primary);
  });
  await followed(await sentinels.primary());
  await suffer(trial, service, writer, 'the primary is demoted (SENTINEL FAILOVER)', async () => {
    const primary = await sentinels.primary();
    await waitFor(() => sentinels.failOver().then(() => true), {
      deadlineMs: 60_000,
      what: 'the Sentinels to fail over',
    });
    await promoted(primary);
  });
  await followed(await sentinels.primary());
  await suffer(trial, service, writer, 'the primary hangs, and is replaced (Sentinel)', async () => {
    const primary = await sentinels.primary();
    process.kill(primary.process.pid, 'SIGSTOP');
    await promoted(primary);
    await pause(HANG_MS / 2);
    process.kill(primary.process.pid, 'SIGCONT');
  });
  await followed(await sentinels.primary());
  await suffer(trial, service, writer, `primary and Sentinels hang for ${HANG_MS} ms`, () => sentinels.hang(HANG_MS));
  await suffer(trial, service, writer, 'the primary is emptied (FLUSHALL)', async () =>
    command(await sentinels.primary(), 'flushall'),
  );

  const grown = processes.map(({ pid }, index) => residentMib(pid) - (before[index] ?? 0));
  trial.judge(
    grown.every((mib) => mib < MAX_GROWTH_MIB),
    `memory: ${processes.map(({ name }, index) => `${name} ${(before[index] ?? 0).toFixed(0)} MiB and ${(grown[index] ?? 0).toFixed(0)} more`).join(', ')}`,
  );

  // The same database with a new, empty queue.
  service.environment = { ...service.environment, QUEUE_URL: cluster.queueUrl };
  await Promise.all([service.startOne('api-gateway'), service.startOne('webhook-worker')]);
  const former = [...service.gateways.splice(0, 1), ...service.workers.splice(0, 1)];
  await Promise.all(former.map((one) => one.terminate()));
  await writer.waitForMore(100);
  await untilUsed(service);
  await suffer(trial, service, writer, 'a primary is killed (Cluster)', async () => kill(await cluster.primary()));

  await writer.stop();
  const { stored } = await judgeLedger(trial, writer, postgres.url());
  await receiver.judge(trial, stored);
  const lateMs = writer.acknowledged.map(({ snapshotId, atMs }) => {
    const arrived = receiver.delivered.find((delivered) => delivered.snapshotId === snapshotId);
    return (arrived?.atMs ?? Infinity) - atMs;
  });
  trial.judge(Math.max(...lateMs) < 60_000, `the latest delivery came ${Math.max(...lateMs)} ms after its write`);
  trial.judge(service.faults.length === 0, `processes that ended unexpectedly: ${service.faults.length}`);
  await service.judgeLog(trial, postgres.url());
});
