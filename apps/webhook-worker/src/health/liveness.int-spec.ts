import { randomUUID } from 'node:crypto';
import { BacklogStore, type Database, DeliveryStore, openDatabase, statement } from '@iss/persistence';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createTestDatabase, type TestDatabase } from '../../../../tools/testing/test-database';
import { waitFor } from '../../../../tools/testing/wait-for';
import { Dispatcher } from '../delivery/dispatcher';
import type { AttemptOutcome } from '../delivery/lane';
import { HealthController } from './health.controller';
import { Liveness, WorkWatch } from './liveness';
import { WorkerReadinessService } from './readiness.service';

const LIMIT_MS = 60_000;
const ADD = statement<{ deliveryId: string; subscriptionId: string }>(
  'spec_liveness_add',
  `INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, next_at)
   VALUES (:deliveryId, gen_random_uuid(), :subscriptionId, 'acme', 'identity.snapshot.created', 'pending', now() - interval '5 minutes')`,
);

let testDatabase: TestDatabase;
let database: Database;
let app: INestApplication;
let url: string;
let nowMs = 0;
let liveness: Liveness;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ migrated: 'service' });
  database = await openDatabase({ url: testDatabase.url, poolSize: 2, applicationName: 'liveness-spec' });
  const backlog = new BacklogStore(database.sql);
  const clock = (): number => nowMs;
  liveness = new Liveness(
    new WorkWatch(() => backlog.oldestEventMs(), LIMIT_MS, clock),
    new WorkWatch(() => backlog.oldestDeliveryMs(), LIMIT_MS, clock),
  );
  const providers = [
    { provide: Liveness, useValue: liveness },
    { provide: WorkerReadinessService, useValue: {} },
  ];
  app = await NestFactory.create(
    { module: class Probes {}, controllers: [HealthController], providers },
    { logger: false },
  );
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
});

afterAll(async () => {
  await app?.close();
  await database?.close();
  await testDatabase?.drop();
});

async function probe(afterMs: number): Promise<number> {
  nowMs += afterMs;
  return (await fetch(`${url}/health`)).status;
}

it('GET /health returns 503 when the dispatcher hangs, but not when the database is down', async () => {
  const row = { deliveryId: randomUUID(), subscriptionId: randomUUID() };
  const pending = { ...row, tenantId: 'acme', founderId: 'acme', targetHost: 'example.com' };
  const deliveries = new DeliveryStore(database.sql, { leaseMs: 1_000, disableAfterMs: 1_000 });
  const hanging = new Dispatcher(() => new Promise<AttemptOutcome>(() => undefined), 3);
  const working = new Dispatcher(async ({ deliveryId }) => {
    await deliveries.claim(deliveryId);
    liveness.deliveries.moved();
    return { kind: 'nothing' };
  }, 3);
  expect(await probe(10 * LIMIT_MS)).toBe(200);

  await database.sql.run(ADD, row);
  hanging.offer([pending]);
  expect(await probe(0)).toBe(200);
  expect(await probe(LIMIT_MS - 1)).toBe(200);
  expect(await probe(1)).toBe(503);

  working.offer([pending]);
  await waitFor(() => working.load().running === 0);
  expect(await probe(0)).toBe(200);
  expect(await probe(LIMIT_MS)).toBe(200);
  expect(await probe(LIMIT_MS)).toBe(503);

  await database.close();
  expect(await probe(0)).toBe(200);
  expect(await probe(10 * LIMIT_MS)).toBe(200);
  database = await openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'liveness-spec' });
});
