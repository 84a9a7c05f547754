import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ObjectMissing, type ObjectStore, openStore } from '@iss/archive';
import {
  type Database,
  LogCheckpointStore,
  LogCopyStore,
  LogTileStore,
  MapReadStore,
  openDatabase,
  PublicEntryStore,
} from '@iss/persistence';
import { APP_ROLES, createLogger, type LogSettings } from '@iss/platform';
import {
  createSigner,
  equalBytes,
  formatEntryBundlePath,
  formatTilePath,
  generateKeys,
  leafHash,
  parseCheckpoint,
  parseEntryBundle,
  parseNote,
  readRoot,
  rootOfLeaves,
  signNote,
  TileHashes,
  tileHashReader,
} from '@iss/tlog';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { addLineage } from '../../../../tools/testing/lineage';
import { MemoryStore } from '../../../../tools/testing/memory-store';
import { type S3Server, startS3 } from '../../../../tools/testing/s3-server';
import { createTestDatabase, type TestDatabase } from '../../../../tools/testing/test-database';
import { TEST_VRF_SECRET } from '../../../../tools/testing/vrf-key';
import { waitFor } from '../../../../tools/testing/wait-for';
import { type LogWorker, startLogWorker } from '../../test/log-worker';
import { LogCopy } from './log-copy';
import { LogMetrics } from './log-metrics';

const ORIGIN = 'log.example/test';
const WIDTH = 256;
const AWS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };

let created: TestDatabase;
let database: Database;
let superuser: Client;
let worker: LogWorker;
let s3: S3Server;
let folder: string;
let log: LogSettings;
let lines: string[];
const copies: LogCopy[] = [];

beforeEach(async () => {
  created = await createTestDatabase({ migrated: 'service' });
  database = await openDatabase({ url: created.url, role: APP_ROLES.worker, poolSize: 6, applicationName: 'test' });
  superuser = new Client({ connectionString: created.url });
  await superuser.connect();
  const { signingKey } = await generateKeys(ORIGIN, 'ed25519');
  log = {
    ...{ origin: ORIGIN, signingKeys: [signingKey], pqSigningKey: undefined, checkpointFile: undefined },
    ...{ checkpointIntervalMs: 10, checkpointMaxAgeMs: 60_000, policyFile: undefined },
  };
  lines = [];
  worker = await startLogWorker(database.sql, { log, vrfKey: TEST_VRF_SECRET }, new Registry(), logger());
  s3 = await startS3();
  Object.assign(process.env, AWS, { AWS_ENDPOINT_URL_S3: s3.url });
  folder = await mkdtemp(join(tmpdir(), 'iss-log-copy-'));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all([worker.stop(), ...copies.splice(0).map((copy) => copy.stop())]);
  for (const name of [...Object.keys(AWS), 'AWS_ENDPOINT_URL_S3']) delete process.env[name];
  await s3.close();
  await rm(folder, { recursive: true });
  await superuser.end();
  await database.close();
  await created.drop();
});

const logger = () => createLogger({ name: 'test', level: 'error' }, { write: (line: string) => lines.push(line) });

/** The copying part of a worker. With `store`, it uses this one for any URL. */
function copyTo(url: string, registry = new Registry(), store?: ObjectStore): LogCopy {
  const { sql } = database;
  const copy = new LogCopy(
    new LogCheckpointStore(sql),
    new LogTileStore(sql),
    new PublicEntryStore(sql),
    new MapReadStore(sql),
    new LogCopyStore(sql),
    new LogMetrics(registry),
    logger(),
    { logPublishUrl: url },
    store === undefined ? openStore : async () => store,
  );
  copies.push(copy);
  return copy;
}

async function addFacts(count: number): Promise<void> {
  await superuser.query(
    `INSERT INTO owner_changes (tenant_id, principal_id) SELECT 'acme', 'owner-' || n FROM generate_series(1, $1) n`,
    [count],
  );
  await settled();
}

/** Waits until every fact is in a published tree, and returns its size. */
function settled(): Promise<number> {
  return waitFor(
    async () => {
      const { rows } = await superuser.query<{ size: number; waiting: number }>(
        'SELECT size::int, (SELECT count(*)::int FROM log_waiting) AS waiting FROM log_tree',
      );
      const [{ size, waiting } = { size: 0, waiting: 1 }] = rows;
      const newest = await new LogCheckpointStore(database.sql).newest();
      return waiting === 0 && newest?.size === size ? size : undefined;
    },
    { what: 'all facts to be published' },
  );
}

/** Reads the store as a client of C2SP tlog-tiles, and verifies everything that the checkpoint covers. Returns its size. */
async function verified(store: ObjectStore): Promise<number> {
  const read = (name: string): Promise<Buffer> => store.read(name, 0, 1 << 24, new AbortController().signal);
  const { size, root } = parseCheckpoint(parseNote((await read('checkpoint')).toString()).text);
  const tiles = tileHashReader(size, (wanted) =>
    Promise.all(wanted.map(async (tile) => new TileHashes(await read(formatTilePath(tile))))),
  );
  expect(equalBytes(await readRoot(size, tiles), root)).toBe(true);
  const leaves: Uint8Array[] = [];
  for (let index = 0; index * WIDTH < size; index++) {
    const width = Math.min(WIDTH, size - index * WIDTH);
    const bundle = await read(formatEntryBundlePath({ index, width }));
    leaves.push(...parseEntryBundle(bundle, width).map((entry) => leafHash(Buffer.from(entry).toString())));
    expect(await read(formatTilePath({ level: 0, index, width }))).toHaveLength(32 * width);
  }
  expect(equalBytes(rootOfLeaves(leaves), root)).toBe(true);
  const keys: unknown = JSON.parse((await read('keys')).toString());
  expect(keys).toMatchObject({ log_origin: ORIGIN, map_starts_at: 0, vkeys: [{}], witnesses: [], quorum: 0 });
  return size;
}

it.each(['file', 's3'])('copies the entries of the newest checkpoint to %s whenever the log grows', async (kind) => {
  const url = kind === 'file' ? String(pathToFileURL(folder)) : 's3://bucket/public/log';
  const store = await openStore(url);
  const registry = new Registry();
  const copy = copyTo(url, registry);
  await addFacts(3);
  await copy.copy();
  expect(await verified(store)).toBe(await settled());
  const partial = `tile/0/000.p/${await settled()}`;
  await addFacts(300);
  await copy.copy();
  expect(await verified(store)).toBe(await settled());
  // Readers of the checkpoint before it may still need this one. It goes later, because the full tile replaces it.
  const has = (name: string) => store.read(name, 0, 1, new AbortController().signal);
  await has(partial);
  await addFacts(1);
  await copy.copy();
  expect(await verified(store)).toBe(await settled());
  await expect(has(partial)).rejects.toBeInstanceOf(ObjectMissing);
  const puts = s3.requests.length;
  await copy.copy();
  if (kind === 's3') {
    expect(s3.requests.slice(puts)).toEqual(['GET bucket/public/log/checkpoint']);
    expect([s3.headers.get('bucket/public/log/checkpoint'), s3.headers.get('bucket/public/log/tile/0/000')]).toEqual([
      { contentType: 'text/plain; charset=utf-8', cacheControl: 'public, max-age=5' },
      { contentType: 'application/octet-stream', cacheControl: 'public, max-age=31536000, immutable' },
    ]);
  }
  store.close();
});

it('never publishes a checkpoint before its entries, even if a worker is killed', async () => {
  const store = new MemoryStore();
  await addFacts(300);
  let left = 0;
  store.before = (call) => {
    if (call === 'put' && (left -= 1) < 0) throw new Error('The worker was killed');
  };
  let shown = 0;
  for (let kill = 0; shown < (await settled()); kill++) {
    left = kill;
    // Another worker takes over when the lease has ended.
    await superuser.query(`UPDATE log_copy SET leased_until = '-infinity'`);
    await copyTo('file:///memory', new Registry(), store)
      .copy()
      .catch(() => undefined);
    if (!store.objects.has('checkpoint')) continue;
    const size = await verified(store);
    expect(size).toBeGreaterThanOrEqual(shown);
    if (shown === 0) await addFacts(300);
    shown = size;
  }
});

it('lets one worker copy at a time', async () => {
  const url = String(pathToFileURL(folder));
  await addFacts(10);
  const [one, other] = [copyTo(url), copyTo(url)];
  await one.copy();
  const store = await openStore(url);
  const size = await verified(store);
  await addFacts(10);
  await other.copy();
  expect(await verified(store)).toBe(size);
  await one.stop();
  await other.copy();
  expect(await verified(store)).toBe(await settled());
});

it.each([
  ['before it copies', 'checkpoint', []],
  ['before it shows the checkpoint', 'keys', ['keys']],
])('copies nothing more after another worker took its lease, %s', async (_, at, last) => {
  const store = new MemoryStore();
  await addFacts(3);
  store.before = async (_call, name) => {
    if (name === at) await superuser.query('UPDATE log_copy SET lease = gen_random_uuid()');
  };
  await copyTo('file:///memory', new Registry(), store).copy();
  expect([...store.objects.keys()].slice(-1)).toEqual(last);
});

it('copies no checkpoint if the log is restarted during the copy', async () => {
  const store = new MemoryStore();
  await addFacts(3);
  const newest = await new LogCheckpointStore(database.sql).newest();
  if (newest === null) throw new Error('there is a checkpoint');
  store.before = (_call, name) => {
    if (name !== 'keys') return;
    const restarted = { ...newest, origin: 'log.example/next' };
    jest.spyOn(LogCheckpointStore.prototype, 'newest').mockResolvedValueOnce(restarted);
  };
  const copy = copyTo('file:///memory', new Registry(), store);
  await worker.stop();
  await copy.copy();
  expect([store.objects.has('keys'), store.objects.has('checkpoint')]).toEqual([true, false]);
  jest.restoreAllMocks();
  store.before = () => undefined;
  await copy.copy();
  expect(await verified(store)).toBe(newest.size);
});

it('copies everything again to an emptied store or another store', async () => {
  const store = new MemoryStore();
  const copy = copyTo('file:///memory', new Registry(), store);
  await addFacts(300);
  await copy.copy();
  store.objects.clear();
  await copy.copy();
  expect(await verified(store)).toBe(await settled());
  await copy.stop();
  const url = String(pathToFileURL(folder));
  await copyTo(url).copy();
  expect(await verified(await openStore(url))).toBe(await settled());
});

it.each<[string, (store: MemoryStore) => Promise<void>]>([
  [
    'has more entries because the database was restored',
    async () => {
      await superuser.query(`SET session_replication_role = replica;
        DELETE FROM log_checkpoints WHERE size = (SELECT max(size) FROM log_checkpoints); RESET session_replication_role`);
    },
  ],
  [
    'has the log of another deployment',
    async (store) => {
      const note = store.objects.get('checkpoint')?.toString() ?? '';
      store.objects.set('checkpoint', Buffer.from(note.replace(ORIGIN, 'log.example/other')));
    },
  ],
  [
    'has other entries',
    async (store) => {
      const note = store.objects.get('checkpoint')?.toString() ?? '';
      const [origin = '', size = '', , ...rest] = note.split('\n');
      store.objects.set(
        'checkpoint',
        Buffer.from([origin, size, Buffer.alloc(32).toString('base64'), ...rest].join('\n')),
      );
    },
  ],
])('does not change a store that %s', async (_, change) => {
  const store = new MemoryStore();
  const registry = new Registry();
  const copy = copyTo('file:///memory', registry, store);
  await addFacts(3);
  await addFacts(4);
  await copy.copy();
  await worker.stop();
  await change(store);
  const before = new Map(store.objects);
  await copy.copy();
  expect(store.objects).toEqual(before);
  expect((await registry.getMetricsAsJSON()).find(({ name }) => name === 'log_copy_refused')).toMatchObject({
    values: [{ value: 1 }],
  });
  expect(lines.filter((line) => line.includes('The log is not copied any more'))).toHaveLength(1);
});

it('copies a checkpoint that was signed again, once the store has a checkpoint to continue', async () => {
  const store = new MemoryStore();
  const registry = new Registry();
  const copy = copyTo('file:///memory', registry, store);
  const figure = async () => (await registry.getSingleMetric('log_copy_refused')?.get())?.values[0]?.value;
  await addFacts(3);
  await copy.copy();
  await worker.stop();
  const note = store.objects.get('checkpoint')?.toString() ?? '';
  store.objects.set('checkpoint', Buffer.from('not a checkpoint'));
  await copy.copy();
  expect(await figure()).toBe(1);
  store.objects.set('checkpoint', Buffer.from(note));
  const { signingKey } = await generateKeys(ORIGIN, 'ed25519');
  const again = await signNote(parseNote(note), [await createSigner(signingKey)], 0);
  await superuser.query(
    'INSERT INTO log_checkpoints (origin, size, note) SELECT origin, size, $1 FROM log_checkpoints LIMIT 1',
    [again],
  );
  await copy.copy();
  expect([store.objects.get('checkpoint')?.toString(), await figure()]).toEqual([again, 0]);
});

it('copies no entries from before the map', async () => {
  const store = new MemoryStore();
  await addFacts(300);
  const state = await new MapReadStore(database.sql).state();
  if (state === null) throw new Error('there is a map');
  const bundlesFrom = async (startsAt: number): Promise<string[]> => {
    jest.spyOn(MapReadStore.prototype, 'state').mockResolvedValue({ ...state, startsAt });
    store.objects.clear();
    const copy = copyTo('file:///memory', new Registry(), store);
    await copy.copy();
    const bundles = [...store.objects.keys()].filter((name) => name.startsWith('tile/entries/'));
    await copy.stop();
    jest.restoreAllMocks();
    return bundles.map((name) => name.slice(0, 'tile/entries/000'.length)).sort();
  };
  expect(await bundlesFrom(0)).toEqual(['tile/entries/000', 'tile/entries/001']);
  for (const startsAt of [1, WIDTH]) expect(await bundlesFrom(startsAt)).toEqual(['tile/entries/001']);
  expect(await bundlesFrom(WIDTH + 1)).toEqual([]);
});

it('copies a public text of an erased version that reveals nothing about it', async () => {
  const store = new MemoryStore();
  const copy = copyTo('file:///memory', new Registry(), store);
  await superuser.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme')`);
  await addLineage(superuser, { tenantId: 'acme', subjectType: 'organization', subjectId: 'erased-one' }, 3);
  await settled();
  await superuser.query(
    `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
     SELECT gen_random_uuid(), 'acme', subject_key, '{1,2}', 'alice' FROM subjects`,
  );
  await superuser.query(`UPDATE erasures SET confirmed_by = 'bob', confirmed_at = now()`);
  await superuser.query('SELECT erase_versions(erasure_id) FROM erasures');
  // The worker then logs the entries that follow from the erasure.
  await waitFor(
    async () => {
      await copy.copy();
      return (await verified(store)) === (await settled()) || undefined;
    },
    { what: 'the copy of the whole log' },
  );
  const all = Buffer.concat([...store.objects.values()]).toString();
  const { rows } = await superuser.query<{ id: string; hash: string }>(
    `SELECT snapshot_id AS id, encode(envelope_hash, 'hex') AS hash FROM snapshots`,
  );
  for (const text of ['erased-one', 'acme', ...rows.flatMap(({ id, hash }) => [id, hash])])
    expect(all).not.toContain(text);
});
