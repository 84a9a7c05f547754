import { Client } from 'pg';
import { untilBlocks } from '../../../../../tools/testing/until-blocks';
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
const checkpoint = (size: number) => ({ origin: ORIGIN, size, note: `${ORIGIN}\n${size}\n`, completeAt: new Date() });

it('publishes no checkpoint smaller than one that another process is publishing', async () => {
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

it('keeps one checkpoint per hour after a day, and all marked ones', async () => {
  const hour = `date_trunc('hour', now()) - interval '2 days'`;
  await other.query(
    `INSERT INTO log_checkpoints (origin, size, note, signed_at, marked_by, marked_at)
     SELECT $1, size, 'old', ${hour} + size * interval '1 minute', who, CASE WHEN who IS NOT NULL THEN now() END
       FROM (VALUES (10, NULL), (11, 'operator'), (12, NULL), (13, 'operator'), (70, NULL)) AS old (size, who)`,
    [ORIGIN],
  );
  expect(await store.thin(10)).toBe(1);
  const { rows } = await other.query<{ size: number }>(
    `SELECT size::int FROM log_checkpoints WHERE note = 'old' ORDER BY 1`,
  );
  expect(rows.map(({ size }) => size)).toEqual([11, 12, 13, 70]);
  expect(await store.ofSize(13)).toBeNull();
  expect((await store.ofSize(12))?.note).toBe('old');
  expect(await store.marked(13)).toEqual(['old']);
});

it('reports an announced key as unannounced until the tree contains its entry', async () => {
  const vkey = `${ORIGIN}+00000000+AQ==`;
  const { rows } = await other.query<{ id: string }>(
    'INSERT INTO log_key_announcements (vkey) VALUES ($1) RETURNING announcement_id AS id',
    [vkey],
  );
  expect(await store.unannounced([vkey], Number.MAX_SAFE_INTEGER)).toEqual([vkey]);
  await other.query('INSERT INTO log_entries (log_index, entry_type, announcement_id, salt) VALUES (7, 8, $1, $2)', [
    rows[0]?.id,
    Buffer.alloc(16),
  ]);
  expect(await store.unannounced([vkey], 7)).toEqual([vkey]);
  expect(await store.unannounced([vkey], 8)).toEqual([]);
});

it('shows an ended key as in use again if it signs after a new announcement', async () => {
  const vkey = `${ORIGIN}+00000001+AQ==`;
  const announce = () => other.query('INSERT INTO log_key_announcements (vkey) VALUES ($1)', [vkey]);
  const untilOf = async () => (await store.keys()).find((key) => key.vkey === vkey)?.until;
  await store.useKeys([vkey]);
  expect(await untilOf()).toBeUndefined();
  await announce();
  await store.useKeys([vkey]);
  expect(await untilOf()).toBeNull();
  await other.query('UPDATE log_key_announcements SET ended_at = now(), ended_by = session_user WHERE vkey = $1', [
    vkey,
  ]);
  await other.query('UPDATE log_keys SET until_at = now() WHERE vkey = $1', [vkey]);
  await store.useKeys([vkey]);
  expect(await untilOf()).toEqual(expect.any(Date));
  await announce();
  await store.useKeys([vkey]);
  expect(await untilOf()).toBeNull();
});

it('shows a key as ended if it ends while a worker starts with it', async () => {
  const vkey = `${ORIGIN}+00000002+AQ==`;
  await other.query('INSERT INTO log_key_announcements (vkey) VALUES ($1)', [vkey]);
  await store.useKeys([vkey]);
  await other.query('BEGIN');
  await other.query('UPDATE log_key_announcements SET ended_at = now(), ended_by = session_user WHERE vkey = $1', [
    vkey,
  ]);
  await other.query('UPDATE log_keys SET until_at = now() WHERE vkey = $1', [vkey]);
  const used = store.useKeys([vkey]);
  await untilBlocks(other);
  await other.query('COMMIT');
  await used;
  expect((await store.keys()).find((key) => key.vkey === vkey)?.until).toEqual(expect.any(Date));
});

it('publishes no checkpoint of a log that has been restarted under another origin', async () => {
  await other.query(`SELECT restart_log('log.example/next', $1, 1, sha256(''), 'note', 'lost')`, [ORIGIN]);
  expect(await store.publish(checkpoint(100))).toBe(false);
  expect(await store.publish({ ...checkpoint(1), origin: 'log.example/next' })).toBe(true);
});
