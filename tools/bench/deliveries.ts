import { randomUUID } from 'node:crypto';
import { openQueue } from '@iss/queue';
import { Queue, Worker } from 'bullmq';
import { Agent, request } from 'undici';
import { runLoad } from './load-generator.ts';
import { figure } from './measure.ts';
import { envelopeText } from './flows.ts';
import { signature } from './peers.ts';
import { type Bench, call, GRANTEE, latestPath, type Outcome, OWNER, seedSubjects } from './scenarios.ts';
import { type Sink, startSink } from './sink.ts';

const EVENT_TYPE = 'identity.snapshot.created';
const BODY = JSON.stringify({ id: `evt_${randomUUID()}`, type: EVENT_TYPE, data: { text: 'x'.repeat(400) } });
const JOBS_CONCURRENCY = 64;

async function subscribe(bench: Bench, tenantId: string, url: string): Promise<void> {
  const headers = tenantId === OWNER ? bench.owner : bench.grantee;
  await call(bench, headers, 'POST', '/v1/webhook-subscriptions', {
    tenant_id: tenantId,
    target_url: url,
    event_types: [EVENT_TYPE],
  });
}

const unsubscribeAll = (bench: Bench): Promise<unknown> =>
  bench.stage.sql.query('UPDATE webhook_subscriptions SET deleted_at = now() WHERE deleted_at IS NULL');

/** Commits events of the owner as the gateway would, and gives their ids. */
async function commitEvents(bench: Bench, count: number): Promise<string[]> {
  const { rows } = await bench.stage.sql.query<{ event_id: string }>(
    `INSERT INTO outbox_events (event_id, tenant_id, event_type, body) SELECT gen_random_uuid(), $1, $2, $3 FROM generate_series(1, $4::int)
     RETURNING event_id`,
    [OWNER, EVENT_TYPE, BODY, count],
  );
  return rows.map((row) => row.event_id);
}

const now = (): number => performance.timeOrigin + performance.now();

/** Deliveries a second of the worker, on Redis, to one endpoint that answers at once; every one is recorded. */
async function deliveryRate(bench: Bench, sink: Sink, count: number): Promise<number> {
  await sink.reset();
  const queue = openQueue({
    queueUrl: bench.stage.queueUrl,
    databaseUrl: bench.stage.databaseUrl,
    warn: () => undefined,
  });
  const ids = await commitEvents(bench, count);
  const startAt = now();
  for (let at = 0; at < ids.length; at += 500) await queue.wakeFanout(ids.slice(at, at + 500));
  const endAt = await sink.reached(count);
  await queue.close();
  return (count * 1000) / (endAt - startAt);
}

/** What BullMQ itself does: a job, a signed POST, nothing recorded. */
async function bullmqRate(bench: Bench, sink: Sink, count: number): Promise<number> {
  await sink.reset();
  const url = new URL(bench.stage.queueUrl);
  const connection = { host: url.hostname, port: Number(url.port), maxRetriesPerRequest: null };
  const name = `bench-${randomUUID()}`;
  const queue = new Queue(name, { connection });
  const dispatcher = new Agent({ connections: JOBS_CONCURRENCY });
  const worker = new Worker(
    name,
    async () => {
      const headers = { 'content-type': 'application/json', 'x-service-signature': signature(BODY) };
      const { body } = await request(`http://127.0.0.1:${sink.port}/`, {
        method: 'POST',
        headers,
        body: BODY,
        dispatcher,
      });
      await body.dump();
    },
    { connection, concurrency: JOBS_CONCURRENCY, autorun: false },
  );
  await worker.waitUntilReady();
  const running = worker.run();
  const startAt = now();
  for (let at = 0; at < count; at += 500) {
    const batch = Math.min(500, count - at);
    await queue.addBulk(
      Array.from({ length: batch }, () => ({ name: 'post', data: {}, opts: { removeOnComplete: true } })),
    );
  }
  const endAt = await sink.reached(count);
  await worker.close();
  await running;
  await queue.obliterate({ force: true });
  await queue.close();
  await dispatcher.close();
  return (count * 1000) / (endAt - startAt);
}

/** Milliseconds from sending a create to its event at the receiver, one after the other on an idle system. */
async function commitToReceiver(bench: Bench, sink: Sink, count: number): Promise<number[]> {
  const latencies: number[] = [];
  for (let index = 0; index < count; index++) {
    await sink.reset();
    const sentAt = now();
    const [receivedAt] = await Promise.all([
      sink.reached(1),
      call(
        bench,
        bench.owner,
        'POST',
        `/v1/tenants/${OWNER}/entity-states`,
        JSON.parse(envelopeText(randomUUID(), randomUUID())),
      ),
    ]);
    latencies.push(receivedAt - sentAt);
  }
  return latencies.sort((a, b) => a - b);
}

/** The way of an event to its receivers. */
export async function deliveries(bench: Bench): Promise<Outcome> {
  const { effort } = bench;
  const count = effort.quick ? 2000 : 10_000;
  const [sink, other] = await Promise.all([startSink(), startSink()]);
  const worker = await bench.stage.startWorker({ LOG_LEVEL: 'warn' });
  try {
    await subscribe(bench, OWNER, `http://127.0.0.1:${sink.port}/`);
    const ours: number[] = [];
    const bullmq: number[] = [];
    for (let round = 0; round <= effort.rounds; round++) {
      ours.push(await deliveryRate(bench, sink, count));
      bullmq.push(await bullmqRate(bench, sink, count));
    }

    const latencies = await commitToReceiver(bench, sink, effort.quick ? 60 : 500);
    const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;

    // One event to many subscriptions, while another tenant reads.
    await seedSubjects(bench, { prefix: 'other-', subjects: 1, versions: 1 });
    const first = { single: [] as number[], many: [] as number[] };
    const firstOf = async (): Promise<number> => {
      await sink.reset();
      const startAt = now();
      const [at1] = await Promise.all([
        sink.reached(1),
        call(
          bench,
          bench.owner,
          'POST',
          `/v1/tenants/${OWNER}/entity-states`,
          JSON.parse(envelopeText(randomUUID(), randomUUID())),
        ),
      ]);
      return at1 - startAt;
    };
    const bystander = (): Promise<{ p99: number }> =>
      runLoad({
        port: bench.gateway.port,
        connections: 8,
        warmUpMs: 200,
        measureMs: effort.quick ? 1500 : 4000,
        ratePerSecond: 200,
        flow: { kind: 'get', paths: [latestPath(OWNER, 'other-1')], headers: bench.owner, expect: 200 },
      });
    for (let round = 0; round < Math.max(5, effort.rounds); round++) first.single.push(await firstOf());
    const quiet = [await bystander(), await bystander(), await bystander()].map(({ p99 }) => p99);
    await unsubscribeAll(bench);
    for (let index = 0; index < 1000; index += 20) {
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => subscribe(bench, OWNER, `http://127.0.0.1:${sink.port}/${index + i}`)),
      );
    }
    const busy: number[] = [];
    for (let round = 0; round < Math.max(5, effort.rounds); round++) {
      first.many.push(await firstOf());
      if (round < 3) busy.push((await Promise.all([bystander(), firstOf()]))[0].p99);
      await sink.reached(1000);
    }
    await unsubscribeAll(bench);
    await subscribe(bench, GRANTEE, `http://127.0.0.1:${other.port}/`);
    await unsubscribeAll(bench);
    return {
      lines: [
        {
          id: 'delivery',
          what: 'Deliveries on Redis, one endpoint',
          figure: figure(ours.slice(1)),
          unit: '/s',
          against: { what: "BullMQ's own POST loop", figure: figure(bullmq.slice(1)) },
          target: { least: 0.6 },
        },
        {
          id: 'commit-to-receiver-p50',
          what: 'Create sent to receiver, idle, p50',
          figure: figure([at(0.5)]),
          unit: 'ms',
          target: { most: 15 },
        },
        {
          id: 'commit-to-receiver-p99',
          what: 'Create sent to receiver, idle, p99',
          figure: figure([at(0.99)]),
          unit: 'ms',
          target: { most: 60 },
        },
        {
          id: 'fan-out-first',
          what: 'First delivery of an event to 1,000 subscriptions',
          figure: figure(first.many),
          unit: 'ms',
          against: { what: 'to one, ms', figure: figure(first.single) },
          target: { most: 2 },
        },
        {
          id: 'fan-out-bystander',
          what: "Another caller's p99 meanwhile",
          figure: figure(busy),
          unit: 'ms',
          against: { what: 'without, ms', figure: figure(quiet) },
          target: { most: 1.25 },
        },
      ],
    };
  } finally {
    await worker.stop();
    sink.stop();
    other.stop();
  }
}
