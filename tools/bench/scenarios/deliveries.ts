import { randomUUID } from 'node:crypto';
import { openQueue } from '@iss/queue';
import { Queue, Worker } from 'bullmq';
import { Agent, request } from 'undici';
import { envelopeText } from '../flows.ts';
import { alternate, type Figure, figure } from '../measure.ts';
import { percentiles } from '../pacing.ts';
import { signature } from '../peers.ts';
import type { Outcome } from '../run.ts';
import { type Sink, startSink } from '../sink.ts';
import { type Bench, call, OWNER, redisUrlOf } from './scenario.ts';
import { EVENT_TYPE, seedSubscriptions, unsubscribeAll } from './subscriptions.ts';

const BODY = JSON.stringify({ id: `evt_${randomUUID()}`, type: EVENT_TYPE, data: { text: 'x'.repeat(400) } });
const JOBS_CONCURRENCY = 64;
const IDS_PER_JOB = 500;
/** The deadline for a queue to connect. */
const CONNECT_MS = 10_000;

const now = (): number => performance.timeOrigin + performance.now();

/** Returns the number of deliveries per repetition. */
export const deliveriesOf = ({ effort }: Bench): number => (effort.quick ? 1500 : 10_000);

/** Commits events of a tenant as the gateway does, and returns their ids. */
async function commitEvents(bench: Bench, count: number): Promise<string[]> {
  const { rows } = await bench.stage.sql.query<{ event_id: string }>(
    `INSERT INTO outbox_events (event_id, tenant_id, event_type, body) SELECT gen_random_uuid(), $1, $2, $3 FROM generate_series(1, $4::int)
     RETURNING event_id`,
    [OWNER, EVENT_TYPE, BODY, count],
  );
  return rows.map((row) => row.event_id);
}

/** Returns the deliveries per second on Redis, to one endpoint that answers immediately. Every delivery is recorded. */
export async function deliveryRate(bench: Bench, sink: Sink): Promise<number> {
  const count = deliveriesOf(bench);
  await sink.reset();
  const queue = openQueue({
    queueUrl: redisUrlOf(bench),
    databaseUrl: bench.stage.databaseUrl,
    warn: () => undefined,
  });
  try {
    // The queue accepts no job before it is connected.
    await queue.pingFor(CONNECT_MS);
    const ids = await commitEvents(bench, count);
    const startAt = now();
    for (let at = 0; at < ids.length; at += IDS_PER_JOB) await queue.wakeFanout(ids.slice(at, at + IDS_PER_JOB));
    const endAt = await sink.reached(count);
    return (count * 1000) / (endAt - startAt);
  } finally {
    await queue.close();
  }
}

/** Returns the rate of BullMQ alone: a job and a signed POST, nothing recorded. */
export async function bullmqRate(bench: Bench, sink: Sink, count = deliveriesOf(bench)): Promise<number> {
  await sink.reset();
  const url = new URL(redisUrlOf(bench));
  const connection = { host: url.hostname, port: Number(url.port), maxRetriesPerRequest: null };
  const name = `bench-${randomUUID()}`;
  const queue = new Queue(name, { connection });
  const dispatcher = new Agent({ connections: JOBS_CONCURRENCY });
  const worker = new Worker(
    name,
    async () => {
      const headers = { 'content-type': 'application/json', 'x-service-signature': signature(BODY) };
      const url = `http://127.0.0.1:${sink.port}/`;
      const { body } = await request(url, { method: 'POST', headers, body: BODY, dispatcher });
      await body.dump();
    },
    { connection, concurrency: JOBS_CONCURRENCY, autorun: false },
  );
  await worker.waitUntilReady();
  const running = worker.run();
  const startAt = now();
  for (let at = 0; at < count; at += IDS_PER_JOB) {
    const batch = Math.min(IDS_PER_JOB, count - at);
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

/** Returns the milliseconds from a create of this tenant to the first request at the receiver. */
export async function createToReceiver(bench: Bench, sink: Sink, tenantId: string): Promise<number> {
  await sink.reset();
  const envelope: unknown = JSON.parse(envelopeText(randomUUID(), randomUUID()));
  const sentAt = now();
  const [receivedAt] = await Promise.all([
    sink.reached(1),
    call(bench, bench.owner, 'POST', `/v1/tenants/${tenantId}/entity-states`, envelope),
  ]);
  return receivedAt - sentAt;
}

async function latenciesOf(times: number, measure: () => Promise<number>): Promise<number[]> {
  const latencies: number[] = [];
  for (let time = 0; time < times; time++) latencies.push(await measure());
  return latencies;
}

/** Measures deliveries of events. */
export async function deliveries(bench: Bench): Promise<Outcome> {
  const { effort } = bench;
  redisUrlOf(bench);
  const sink = await startSink();
  const worker = await bench.stage.startWorker();
  try {
    await seedSubscriptions(bench, { tenantId: OWNER, count: 1, port: sink.port });
    const rates = await alternate(effort, {
      ours: () => deliveryRate(bench, sink),
      bullmq: () => bullmqRate(bench, sink),
    });
    const idle = await alternate(
      { ...effort, uncounted: 0 },
      { latencies: () => latenciesOf(effort.quick ? 40 : 125, () => createToReceiver(bench, sink, OWNER)) },
    );
    const at = (share: number): Figure => figure(idle.latencies.flatMap((values) => percentiles(values, [share])));
    return {
      lines: [
        {
          id: 'delivery',
          what: 'Deliveries on Redis, one endpoint',
          figure: figure(rates.ours),
          unit: '/s',
          against: { what: "BullMQ's own POST loop", figure: figure(rates.bullmq) },
          target: { least: 0.6 },
        },
        {
          id: 'commit-to-receiver-p50',
          what: 'Create sent to receiver, idle, p50',
          figure: at(0.5),
          unit: 'ms',
          target: { most: 15 },
        },
        {
          id: 'commit-to-receiver-p99',
          what: 'Create sent to receiver, idle, p99',
          figure: at(0.99),
          unit: 'ms',
          target: { most: 60 },
        },
      ],
    };
  } finally {
    await unsubscribeAll(bench);
    await worker.stop();
    sink.stop();
  }
}
