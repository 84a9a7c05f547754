import { writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { reservePort } from '../processes.ts';
import { startOwnRedis } from '../redis.ts';
import { waitFor } from '../testing/wait-for.ts';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { programOf } from './frame/packages.ts';
import { TrialPostgres } from './frame/postgres.ts';
import { TENANT, TrialService } from './frame/service.ts';
import { runTrial, type Trial } from './frame/trial.ts';

/**
 * `npm run trial -- rolling`: runs two gateways behind HAProxy, which checks their readiness. Ten times, one after the other is
 * stopped (SIGTERM) and restarted, while clients with open connections write and read. No client may see a failure.
 */
const ROLLS = 10;
const CLIENTS = 4;
const PAUSE_MS = 20;
/** HAProxy checks every second and needs two failures; one second is added. */
const DRAIN_DELAY_MS = 3_000;

interface Balancer {
  readonly url: string;
  /** Returns the state of each gateway in HAProxy: `UP`, `DOWN`, … */
  states(): Promise<string[]>;
}

async function startBalancer(trial: Trial, gateways: readonly string[]): Promise<Balancer> {
  const [port, statsPort] = [await reservePort(), await reservePort()];
  const file = trial.path('haproxy.cfg');
  const servers = gateways.map((url, index) => `  server gateway-${index + 1} ${new URL(url).host}`);
  const config = [
    'defaults',
    '  mode http',
    '  timeout connect 2s',
    '  timeout client 60s',
    '  timeout server 60s',
    'frontend api',
    `  bind 127.0.0.1:${port}`,
    '  default_backend gateways',
    'frontend stats',
    `  bind 127.0.0.1:${statsPort}`,
    '  stats enable',
    '  stats uri /',
    'backend gateways',
    '  option httpchk GET /v1/ops/readiness',
    '  http-check expect status 200',
    '  default-server check inter 1s fall 2 rise 1',
    '  option redispatch',
    '  retry-on conn-failure',
    ...servers,
  ];
  writeFileSync(file, `${config.join('\n')}\n`);
  await trial.run('haproxy', programOf('haproxy'), ['-db', '-f', file]);
  const balancer: Balancer = {
    url: `http://127.0.0.1:${port}`,
    async states() {
      const [heads = '', ...lines] = (await (await fetch(`http://127.0.0.1:${statsPort}/;csv`)).text()).split('\n');
      const column = heads.split(',').indexOf('status');
      return lines.filter((line) => line.startsWith('gateways,gateway-')).map((line) => line.split(',')[column] ?? '');
    },
  };
  await waitForAll(balancer);
  return balancer;
}

async function waitForAll(balancer: Balancer): Promise<void> {
  const areUp = async (): Promise<boolean> => (await balancer.states()).every((state) => state === 'UP');
  await waitFor(areUp, { deadlineMs: 30_000, what: 'HAProxy to see both gateways' });
}

/** Reads the last written version on open connections. */
class Reader {
  readonly statuses = new Map<number, number>();
  connections = 0;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  private isReading = true;
  private readonly ended: Promise<unknown>;

  constructor(url: string, writer: LedgerWriter) {
    this.ended = Promise.all(Array.from({ length: CLIENTS }, () => this.read(url, writer)));
  }

  async stop(): Promise<void> {
    this.isReading = false;
    await this.ended;
    this.agent.destroy();
  }

  private async read(url: string, writer: LedgerWriter): Promise<void> {
    while (this.isReading) {
      const { subjectId } = writer.acknowledged.at(-1) ?? {};
      if (subjectId !== undefined) {
        const path = `/v1/tenants/${TENANT}/subjects/organization/${subjectId}/snapshots/latest`;
        const status = await this.ask(`${url}${path}`);
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      }
      await pause(PAUSE_MS);
    }
  }

  /** Returns the status; 0 without a complete response. */
  private ask(url: string): Promise<number> {
    return new Promise((resolve) => {
      const request = get(url, { agent: this.agent }, (answer) => {
        answer.on('end', () => resolve(answer.complete ? (answer.statusCode ?? 0) : 0));
        answer.on('error', () => resolve(0)).resume();
      });
      request.on('error', () => resolve(0));
      request.on('socket', () => {
        if (!request.reusedSocket) this.connections += 1;
      });
    });
  }
}

const told = (statuses: ReadonlyMap<number, number>): string =>
  [...statuses].map(([status, count]) => `${status === 0 ? 'no answer' : status}: ${count}`).join(', ');

await runTrial('rolling', async (trial) => {
  const postgres = await TrialPostgres.create(trial, 'primary');
  await postgres.start();
  await postgres.query('CREATE DATABASE iss', [], 'postgres');
  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());
  const service = await TrialService.start(trial, {
    databaseUrl: postgres.url(),
    queueUrl: redis.url,
    gateways: 2,
    environment: { DRAIN_DELAY_MS: String(DRAIN_DELAY_MS) },
  });
  const balancer = await startBalancer(
    trial,
    service.gateways.map(({ url }) => url),
  );
  const receiver = await DeliveryRecorder.start(trial, service);
  const writer = LedgerWriter.start(trial, service, { writers: CLIENTS, pauseMs: PAUSE_MS, url: balancer.url });
  const reader = new Reader(balancer.url, writer);
  await writer.waitForMore(100);

  const ends: string[] = [];
  let longestMs = 0;
  for (let roll = 1; roll <= ROLLS; roll += 1) {
    for (const gateway of service.gateways) {
      const { how, tookMs } = await gateway.terminate();
      ends.push(how);
      longestMs = Math.max(longestMs, tookMs);
      await gateway.start();
      await waitForAll(balancer);
    }
    trial.say(`roll ${roll} of ${ROLLS}`);
  }
  await Promise.all([writer.stop(), reader.stop()]);

  const { stored } = await judgeLedger(trial, writer, postgres.url());
  const isUnnoticed = (statuses: ReadonlyMap<number, number>, wanted: number): boolean =>
    statuses.size === 1 && (statuses.get(wanted) ?? 0) > 0;
  trial.judge(
    isUnnoticed(writer.statuses, 201) && isUnnoticed(reader.statuses, 200),
    `${ROLLS} rolls of two gateways; writes by status: ${told(writer.statuses)}; reads: ${told(reader.statuses)}`,
  );
  trial.judge(reader.connections <= CLIENTS, `the readers used ${reader.connections} connections in all`);
  trial.judge(
    ends.every((how) => how === 'exit code 0'),
    `${ends.length} processes ended by themselves, after ${(longestMs / 1_000).toFixed(1)} s at most`,
  );
  trial.judge(service.faults.length === 0, `processes that ended unexpectedly: ${service.faults.length}`);
  await receiver.judge(trial, stored);
});
