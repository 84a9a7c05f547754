import { createHash } from 'node:crypto';
import { openSharedWorld, type SharedWorld } from '../../testing/world';
import { MapReadStore } from './map-read.store';

const VRF_KEY = `VRF+${Buffer.alloc(32, 7).toString('base64')}`;
const prefixes = (...bytes: number[]): Buffer => Buffer.concat(bytes.map((byte) => Buffer.alloc(7, byte)));
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const path = (bits: number, byte: number): Buffer => Buffer.from([bits, byte]);

let world: SharedWorld;
let store: MapReadStore;

beforeAll(async () => {
  world = await openSharedWorld();
});
afterAll(() => world?.close());
beforeEach(async () => {
  await world.empty();
  store = new MapReadStore(world.database.sql);
  await world.admin.query(
    `INSERT INTO map_state (origin, vrf_key, starts_at) VALUES ('log.example', '${VRF_KEY}', 256);
     INSERT INTO map_streams (stream, last) VALUES ('o/acme', 3);
     INSERT INTO map_tiles (path, content) VALUES ('\\x00', '\\x02');`,
  );
  const salt = Buffer.alloc(16);
  await world.admin.query(
    `INSERT INTO log_entries (log_index, entry_type, owner_change_id, salt, key_prefixes)
     VALUES (0, 4, 1, $1, NULL), (1, 4, 2, $1, NULL), (256, 4, 3, $1, $2)`,
    [salt, prefixes(1)],
  );
  await world.admin.query(
    `INSERT INTO log_entries (log_index, entry_type, backfill_from, key_prefixes, key_counts) VALUES (257, 10, 0, $1, '\\x00010002')`,
    [prefixes(2, 3, 4)],
  );
  await world.admin.query('INSERT INTO log_entries (log_index, entry_type, map_root) VALUES (258, 9, $1)', [
    sha256(''),
  ]);
});

/** Returns a bucket with keys that consist of one byte each, and their log indexes below 256. */
const bucket = (...keys: [byte: number, ...logIndexes: number[]][]): Buffer =>
  Buffer.concat(
    keys.flatMap(([byte, ...indexes]) =>
      indexes.map((index) => Buffer.concat([Buffer.alloc(32, byte), Buffer.of(0, 0, 0, 0, index)])),
    ),
  );
const putBucket = (at: Buffer, content: Buffer): Promise<unknown> =>
  world.admin.query(
    'INSERT INTO map_buckets VALUES ($1, $2) ON CONFLICT (path) DO UPDATE SET content = excluded.content',
    [at, content],
  );

it('reads the state, tiles by path, roots and stream numbers', async () => {
  expect(await store.state()).toEqual({
    origin: 'log.example',
    vrfKey: VRF_KEY,
    startsAt: 256,
    backfilledTo: 0,
    keyCount: 0,
    root: sha256(''),
    size: 0,
  });
  expect(await store.tiles([Buffer.from([0]), Buffer.from([6, 0])])).toEqual([
    { path: Buffer.from([0]), content: Buffer.from([2]) },
  ]);
  expect(await store.buckets([Buffer.from([0])])).toEqual([]);
  expect(await store.rootAt(258)).toEqual(sha256(''));
  expect(await store.rootAt(257)).toBeNull();
  expect(await store.lastNumber('o/acme')).toBe(3);
  expect(await store.lastNumber('o/other')).toBe(0);
});

it('finds the keys of an entry in its own row or in a backfill entry', async () => {
  expect(await store.keyPrefixes(256)).toEqual({ prefixes: [prefixes(1)], isOwn: true });
  expect(await store.keyPrefixes(0)).toEqual({ prefixes: [prefixes(2)], isOwn: false });
  expect(await store.keyPrefixes(1)).toEqual({ prefixes: [prefixes(3), prefixes(4)], isOwn: false });
  expect(await store.keyPrefixes(258)).toBeNull();
  expect(await store.keyPrefixes(999)).toBeNull();
  expect(await store.ownKeyPrefixes([0, 256, 257, 258, 999])).toEqual(new Map([[256, [prefixes(1)]]]));
});

it('lets a bucket grow and split, but lets no key be removed or changed', async () => {
  const [one, zeros, ones] = [Buffer.from([0]), path(1, 0), path(1, 0x80)];
  const before = bucket([1, 5], [200, 6]);
  await putBucket(one, before);
  await putBucket(one, bucket([1, 5], [2, 9], [200, 6]));
  await putBucket(one, bucket([1, 5, 7], [2, 9], [200, 6]));
  for (const content of [
    bucket([2, 9], [200, 6]),
    bucket([1, 5], [2, 9], [200, 6]),
    bucket([1, 5, 8], [2, 9], [200, 6]),
    bucket([1, 5, 7], [3, 9], [200, 6]),
    bucket([1, 5, 7], [2, 10], [200, 6]),
  ]) {
    await expect(putBucket(one, content)).rejects.toThrow('the map only grows: UPDATE of map_buckets');
  }
  const split = async (...written: [Buffer, Buffer][]): Promise<void> => {
    await world.admin.query('BEGIN');
    try {
      await world.admin.query('DELETE FROM map_buckets WHERE path = $1', [one]);
      for (const [at, content] of written) await putBucket(at, content);
      await world.admin.query('COMMIT');
    } catch (error) {
      await world.admin.query('ROLLBACK');
      throw error;
    }
  };
  const refused = 'the map only grows: DELETE of map_buckets';
  await expect(split()).rejects.toThrow(refused);
  await expect(split([zeros, bucket([1, 5, 7], [2, 9])])).rejects.toThrow(refused);
  await expect(split([zeros, bucket([1, 5, 7], [2, 9])], [ones, bucket([200, 5])])).rejects.toThrow(refused);
  await expect(split([ones, bucket([1, 5, 7], [2, 9])], [zeros, bucket([200, 6])])).rejects.toThrow(refused);
  await split([zeros, bucket([1, 5, 7], [2, 9])], [ones, bucket([200, 6])]);
  expect(await store.buckets([one])).toEqual([]);
});

it.each([
  'DELETE FROM map_tiles',
  'DELETE FROM map_streams',
  'DELETE FROM map_state',
  'UPDATE map_streams SET last = last - 1',
  `UPDATE map_streams SET stream = 'o/other'`,
  `UPDATE map_state SET origin = 'other'`,
  'UPDATE map_state SET starts_at = 0',
  `UPDATE log_entries SET key_prefixes = NULL WHERE log_index = 256`,
])('refuses %s', async (text) => {
  await expect(world.admin.query(text)).rejects.toThrow('only grows');
});

it('is empty after a restart of the log, which requeues no map entries', async () => {
  const restarted = await world.admin.query(
    `SELECT entries FROM restart_log('log.example/2', 'log.example', 0, sha256(''), 'note', 'lost')`,
  );
  expect(restarted.rows).toEqual([{ entries: '3' }]);
  const { rows } = await world.admin.query('SELECT entry_type FROM log_waiting ORDER BY waiting_id');
  expect(rows.map(({ entry_type: type }) => type)).toEqual([7, 4, 4, 4]);
  expect(await store.state()).toBeNull();
  expect(await store.lastNumber('o/acme')).toBe(0);
  expect(await store.tiles([Buffer.from([0])])).toEqual([]);
});
