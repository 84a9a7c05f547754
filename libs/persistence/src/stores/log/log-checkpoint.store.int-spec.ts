import { Client } from 'pg';
import { openWorld, type World } from '../../testing/world';
import { LogCheckpointStore } from './log-checkpoint.store';

let world: World;
let store: LogCheckpointStore;
let other: Client;

beforeAll(async () => {
  world = await openWorld();
  store = new LogCheckpointStore(world.database.sql);
  other = new Client({ connectionString: world.url });
  await other.connect();
});

afterAll(async () => {
  await other.end();
  await world.close();
});

const ORIGIN = 'log.example/test';
const checkpoint = (size: number) => ({ origin: ORIGIN, size, note: `${ORIGIN}\n${size}\n` });

it('publishes nothing smaller than what another process is publishing at the moment', async () => {
  expect(await store.publish(checkpoint(1))).toBe(true);
  await other.query('BEGIN');
  await other.query(`SELECT pg_advisory_xact_lock(hashtextextended('log/checkpoints', 0))`);
  await other.query('INSERT INTO log_checkpoints (origin, size, note) VALUES ($1, 3, $1)', [ORIGIN]);
  const late = store.publish(checkpoint(2));
  await other.query('COMMIT');
  expect(await late).toBe(false);
  expect((await store.newest())?.size).toBe(3);
  expect(await store.publish(checkpoint(3))).toBe(true);
});
