import { WorkerReadinessService } from './readiness.service';

const ok = { status: 'ok' } as const;
const checks = {
  database: ok,
  migrations: ok,
  schema: ok,
  clock: ok,
  queue: ok,
  outbox: ok,
  deliveries: ok,
  egress: ok,
  log: ok,
  feed: ok,
};
const fine = async (): Promise<number> => 0;
const none = async (): Promise<string[]> => [];
const down = async (): Promise<never> => {
  throw new Error('down');
};
const minutes = async (): Promise<number> => 61_000;
const database = { archive: null, ping: fine, missingMigrations: none, schemaFaults: none };

interface Parts {
  database?: object;
  event?: () => Promise<number>;
  queue?: () => Promise<number>;
  egress?: () => Promise<number>;
  log?: object;
  deliveryMs?: number;
  feed?: () => Promise<number>;
  neededConnections?: number;
}

function serviceWith(parts: Parts): WorkerReadinessService {
  return Reflect.construct(WorkerReadinessService, [
    { ...database, ...parts.database },
    { oldestEventMs: parts.event ?? fine },
    { ping: parts.queue ?? fine },
    { pingEgress: parts.egress ?? fine },
    { status: () => parts.log ?? ok },
    { oldestRunnableMs: () => parts.deliveryMs ?? 0 },
    { lagMs: parts.feed ?? fine },
    { neededConnections: parts.neededConnections },
  ]);
}

const unknown = { status: 'degraded', detail: 'unknown while the database does not answer' };
const unreachable = { status: 'degraded', detail: 'unreachable' };
const waited = (what: string): object => ({ status: 'degraded', detail: `the oldest ${what} has waited for 61 s` });

it.each([
  ['the database', { ping: down }, { database: { ...unreachable, status: 'failed' }, migrations: unknown }],
  ['a migration', { missingMigrations: async () => ['V2'] }, { migrations: { status: 'failed' } }],
  ['a part of its schema', { schemaFaults: async () => ['no index'] }, { schema: { status: 'failed' } }],
])('the worker is not ready without %s', async (_, change, expected) => {
  expect(await serviceWith({ database: change }).read()).toMatchObject({ status: 'not_ready', checks: expected });
});

it.each<[string, Parts, object]>([
  ['queue', { queue: down }, unreachable],
  ['egress', { egress: down }, unreachable],
  ['outbox', { event: minutes }, waited('event')],
  ['deliveries', { deliveryMs: 61_000 }, waited('delivery that only lacks a slot')],
  ['feed', { feed: minutes }, waited('entry of the log that is not in the change feeds')],
  ['log', { log: { status: 'degraded', reason: 'behind' } }, { status: 'degraded', reason: 'behind' }],
  ['archive', { database: { archive: { ping: fine } } }, ok],
  ['archive', { database: { archive: { ping: down } } }, unreachable],
  [
    'connections',
    { database: { server: async () => ({ most: 99 }) }, neededConnections: 100 },
    { status: 'degraded', detail: expect.stringContaining('PostgreSQL has 99 connections') },
  ],
])('the worker is ready and reports the state of %s (%#)', async (name, parts, expected) => {
  expect(await serviceWith(parts).read()).toEqual({ status: 'ready', checks: { ...checks, [name]: expected } });
});
