import { type NoParameters, statement } from '@iss/persistence';
import { Client } from 'pg';
import { type Receiver, startReceiver } from '../../../tools/testing/receiver';
import { testRedisUrl } from '../../../tools/testing/test-redis';
import { waitFor } from '../../../tools/testing/wait-for';
import { startWorkers, type TestWorkers } from './worker';

const HOSTILE = 100;
const EVENTS_EACH = 10;
const VICTIMS_EVENTS = 40;
const BURST = 5_000;
/** Nothing that hangs ends while a test runs. */
const ENDLESS = {
  WEBHOOK_HEADERS_TIMEOUT_MS: '600000',
  WEBHOOK_TOTAL_TIMEOUT_MS: '600000',
  SHUTDOWN_TIMEOUT_MS: '400',
};

const ADD_EVENTS = statement<{ count: number; pattern: string }>(
  'test_hostile_events',
  `INSERT INTO outbox_events (event_id, tenant_id, event_type, body)
   SELECT gen_random_uuid(), t.tenant_id, 'identity.snapshot.created', '{}'
     FROM tenants t CROSS JOIN generate_series(1, :count) WHERE t.tenant_id LIKE :pattern`,
);
const STATE = statement<NoParameters, { delivered: number; ended: number }>(
  'test_fairness',
  `SELECT (count(*) FILTER (WHERE d.tenant_id = 'victim' AND d.status = 'succeeded'))::int AS delivered,
          (count(*) FILTER (WHERE d.tenant_id <> 'victim' AND (d.status <> 'pending' OR a.delivery_id IS NOT NULL)))::int
            AS ended
     FROM deliveries d LEFT JOIN delivery_attempts a ON a.delivery_id = d.delivery_id`,
);
/** Counts by the times that the database wrote, because the burst continues while a test reads. */
const FANNED_OUT_BEFORE = statement<{ eventId: string }, { before: number }>(
  'test_fanned_out_before',
  `SELECT count(b)::int AS before FROM outbox_events v
     LEFT JOIN outbox_events b ON b.tenant_id = 'burst' AND b.fanned_out_at < v.fanned_out_at
    WHERE v.event_id = :eventId`,
);
const WAITING_IDS = statement<NoParameters, { id: string }>(
  'test_waiting_ids',
  `SELECT event_id AS id FROM outbox_events WHERE fanned_out_at IS NULL AND tenant_id <> 'victim'`,
);
/** Makes the fan-out of the burst slow. On a fast machine it would end before the sweep looks for late events. */
const SLOW_BURST = `
  CREATE FUNCTION test_slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.002); RETURN NEW; END';
  CREATE TRIGGER test_slow BEFORE INSERT ON deliveries
     FOR EACH ROW WHEN (NEW.tenant_id = 'burst') EXECUTE FUNCTION test_slow()`;

let workers: TestWorkers;
let hanging: Receiver[];
let receiver: Receiver;

beforeAll(async () => {
  hanging = await Promise.all(Array.from({ length: HOSTILE }, () => startReceiver()));
});

afterAll(() => Promise.all((hanging ?? []).map((one) => one.stop())));

beforeEach(async () => {
  workers = await startWorkers(await testRedisUrl());
  receiver = await startReceiver();
  for (const one of hanging) {
    one.clear();
    one.always('hang');
  }
  await workers.addTenants({ victim: 'oidc:p#victim' });
  await workers.subscribe(receiver.url, 'victim');
});

afterEach(async () => {
  await workers?.close();
  await receiver?.stop();
});

/** Adds a hundred tenants with a subscription each, whose receivers never answer. */
async function addHostile(founderOf: (index: number) => string): Promise<void> {
  await workers.addTenants(Object.fromEntries(hanging.map((_, index) => [`hostile-${index}`, founderOf(index)])));
  await workers.subscribeAll(hanging.map(({ url }, index) => ({ targetUrl: url, tenantId: `hostile-${index}` })));
}
const publishVictims = async (wake: boolean): Promise<void> => {
  for (let count = 0; count < VICTIMS_EVENTS; count += 1) await workers.publish({ tenantId: 'victim', wake });
};
const state = () => workers.database.sql.one(STATE, {});
const slotsOf = async (metrics: { metrics(): Promise<string> }, kind: string): Promise<number> =>
  Number(new RegExp(`webhook_slots_held{.*of="${kind}".*} (\\d+)`).exec(await metrics.metrics())?.[1]);

describe.each([
  ['one founder', () => 'oidc:p#hostile'],
  ['one founder each', (index: number) => `oidc:p#hostile-${index}`],
])('a hundred tenants of %s whose receivers never answer', (_, founderOf) => {
  it('use a limited share of the slots and do not delay deliveries of another tenant', async () => {
    await addHostile(founderOf);
    await workers.database.sql.run(ADD_EVENTS, { count: EVENTS_EACH, pattern: 'hostile-%' });
    const { metrics } = await workers.start(ENDLESS);
    await waitFor(async () => (await slotsOf(metrics, 'unproven')) >= 64, { what: 'the hostile attempts' });
    await publishVictims(true);
    await waitFor(async () => (await state()).delivered === VICTIMS_EVENTS);
    expect((await state()).ended).toBe(0);
    const figures = await metrics.metrics();
    expect(figures).toMatch(/^webhook_runnable_delivery_seconds\{.*\} 0$/m);
    expect(figures).toMatch(/^webhook_held_delivery_seconds\{tenant_id="hostile-\d+",target_host="127\.0\.0\.1:\d+",/m);
    expect(await slotsOf(metrics, 'unproven')).toBeLessThan(256);
    expect(Math.max(...hanging.map(({ requests }) => requests.length))).toBeLessThanOrEqual(2);
  });

  it('do not delay other tenants after a worker starts with an empty queue', async () => {
    await addHostile(founderOf);
    await workers.database.sql.run(ADD_EVENTS, { count: EVENTS_EACH, pattern: 'hostile-%' });
    await publishVictims(false);
    await workers.start(ENDLESS);
    await waitFor(async () => (await state()).delivered === VICTIMS_EVENTS);
    expect((await state()).ended).toBe(0);
  });
});

it('fans out an event before thousands that another tenant queued earlier', async () => {
  await workers.addTenants({ burst: 'oidc:p#burst' });
  await workers.subscribe(hanging[0]?.url ?? '', 'burst');
  const superuser = new Client({ connectionString: workers.env['DATABASE_URL'] });
  await superuser.connect();
  await superuser.query(SLOW_BURST);
  await superuser.end();
  await workers.database.sql.run(ADD_EVENTS, { count: BURST, pattern: 'burst' });
  const ids = (await workers.database.sql.run(WAITING_IDS, {})).map(({ id }) => id);
  await workers.queue.wakeFanout(ids);
  const { eventId } = await workers.publish({ tenantId: 'victim' });
  await workers.start(ENDLESS);
  await workers.settled(eventId, 'succeeded');
  expect((await state()).ended).toBe(0);
  const { before } = await workers.database.sql.one(FANNED_OUT_BEFORE, { eventId });
  expect(before).toBeLessThan(BURST);
});
