import { Client } from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { query, TrialPostgres } from './frame/postgres.ts';
import { startOwnRedis } from '../redis.ts';
import { TrialService } from './frame/service.ts';
import { runTrial } from './frame/trial.ts';

/**
 * `npm run trial -- connection-limit`: PostgreSQL accepts no more connections (SQLSTATE 53300). First, another client takes all
 * free connections while a writer uses those of the service. Then a process starts and all connections are cut, so that the
 * service needs new ones when there are too few.
 */
const MAX_CONNECTIONS = 40;
const HELD_MS = 8_000;

await runTrial('connection-limit', async (trial) => {
  const server = await TrialPostgres.create(trial, 'primary', {
    max_connections: String(MAX_CONNECTIONS),
    superuser_reserved_connections: '3',
  });
  await server.start();
  await server.query('CREATE DATABASE iss', [], 'postgres');
  await server.query(
    `CREATE ROLE iss_gateway NOLOGIN; CREATE ROLE iss_worker NOLOGIN;
     CREATE ROLE iss_service LOGIN PASSWORD 'x' IN ROLE iss_gateway, iss_worker`,
  );
  const databaseUrl = `postgres://iss_service:x@127.0.0.1:${server.port}/iss`;
  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());
  const service = await TrialService.start(trial, { databaseUrl, ownerUrl: server.url(), queueUrl: redis.url });
  const receiver = await DeliveryRecorder.start(trial, service);
  const writer = LedgerWriter.start(trial, service, { writers: 8 });
  await writer.waitForMore(100);

  const others: Client[] = [];
  const takeAll = async (): Promise<number> => {
    for (;;) {
      const client = new Client({ connectionString: databaseUrl });
      client.on('error', () => undefined);
      const isIn = await client.connect().then(
        () => true,
        () => false,
      );
      if (!isIn) return others.length;
      others.push(client);
    }
  };
  trial.atEnd(() => Promise.all(others.map((client) => client.end().catch(() => undefined))));
  const held = await takeAll();
  const from = Date.now();
  const before = new Map(writer.statuses);
  await pause(HELD_MS);
  const refused = [...writer.statuses].filter(([status, count]) => status !== 201 && count > (before.get(status) ?? 0));
  trial.judge(
    refused.length === 0 && writer.longestGapMs(from) < 2_000,
    `another client holds ${held} of ${MAX_CONNECTIONS} connections; the service continues with its own: ${writer.summary}`,
  );

  const late = await service.startOne('api-gateway').then(
    () => 'it started',
    (error: unknown) => String(error),
  );
  trial.judge(
    /53300|too many|remaining connection slots/i.test(late),
    `a gateway that cannot start reports the reason: ${late.trim().split('\n')[0]?.slice(0, 400)}`,
  );

  const cutAtMs = Date.now();
  const cut = await query<{ count: number }>(
    server.url('postgres'),
    `SELECT count(pg_terminate_backend(pid))::int AS count FROM pg_stat_activity WHERE application_name LIKE 'iss-%' OR application_name LIKE '%gateway%' OR application_name LIKE '%worker%'`,
  );
  await takeAll();
  await pause(HELD_MS);
  const [gateway] = service.gateways;
  if (gateway === undefined) throw new Error('No gateway was started');
  const { status, body } = await service.readiness(gateway);
  const isTold = service.logOf(gateway).includes('53300');
  const isReady = status === 200 && writer.acknowledged.some(({ askedAtMs }) => askedAtMs > cutAtMs + HELD_MS / 2);
  trial.judge(
    isTold || isReady,
    `${cut[0]?.count} connections of the service are cut while another client takes all free ones: ${isTold ? 'the log says 53300' : 'it got some back first, and continues'}; readiness ${status} ${body}`,
  );
  for (const client of others.splice(0)) await client.end().catch(() => undefined);
  const freeAtMs = Date.now();
  const goesOnAfterMs = (await writer.firstAfter(freeAtMs)) - freeAtMs;
  trial.judge(
    goesOnAfterMs < 10_000,
    `the first write ${goesOnAfterMs} ms after connections were free again (${freeAtMs - cutAtMs} ms after the cut)`,
  );
  await writer.waitForMore(100);
  await writer.stop();
  const { stored } = await judgeLedger(trial, writer, server.url());
  await receiver.judge(trial, stored);
  await service.judgeLog(trial, server.url());
});
