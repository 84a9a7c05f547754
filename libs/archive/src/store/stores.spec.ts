import { randomBytes } from 'node:crypto';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { archiveUrlFault } from '@iss/platform';
import { type S3Server, startS3 } from '../../../../tools/testing/s3-server';
import { ObjectMissing, type ObjectStore } from './object-store';
import { openStore } from './open-store';

const signal = new AbortController().signal;
let s3: S3Server;
let folder: string;
let stores: Record<'file' | 's3', ObjectStore>;

beforeAll(async () => {
  s3 = await startS3();
  folder = await mkdtemp(join(tmpdir(), 'iss-store-'));
  Object.assign(process.env, { AWS_ENDPOINT_URL_S3: s3.url, AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' });
  stores = { file: await openStore(String(pathToFileURL(folder))), s3: await openStore('s3://bucket/some/prefix') };
});
afterAll(async () => {
  for (const store of Object.values(stores)) store.close();
  for (const name of ['AWS_ENDPOINT_URL_S3', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) delete process.env[name];
  await s3.close();
  await rm(folder, { recursive: true });
});

describe.each(['file', 's3'] as const)('the store %s', (kind) => {
  it('stores an object, reads any part of it, and deletes it', async () => {
    const store = stores[kind];
    const bytes = randomBytes(100_000);
    await store.ping(signal);
    await store.put('packs/one', bytes, signal);
    expect((await store.read('packs/one', 0, bytes.length, signal)).equals(bytes)).toBe(true);
    expect(await store.read('packs/one', 10, 20, signal)).toEqual(bytes.subarray(10, 30));
    expect(await store.read('packs/one', 99_990, 20, signal)).toEqual(bytes.subarray(99_990));
    expect(await store.read('packs/one', 100_000, 20, signal)).toHaveLength(0);
    await store.remove('packs/one', signal);
    await expect(store.read('packs/one', 0, 10, signal)).rejects.toBeInstanceOf(ObjectMissing);
    await store.remove('packs/one', signal);
  });
});

it('puts objects below the prefix of the bucket', async () => {
  await stores.s3.put('packs/two', Buffer.from('2'), signal);
  expect([...s3.objects.keys()]).toEqual(['bucket/some/prefix/packs/two']);
});

it('syncs a file and its folder, so that a power failure loses no pack', async () => {
  const handle = await open(folder);
  const sync = jest.spyOn(Object.getPrototypeOf(handle), 'sync');
  await stores.file.put('packs/synced', Buffer.from('4'), signal);
  expect(sync).toHaveBeenCalledTimes(2);
  sync.mockRestore();
  await handle.close();
});

it('leaves no partial file if a write fails', async () => {
  const put = stores.file.put('unfinished/one', Buffer.from('5'), AbortSignal.abort());
  await expect(put).rejects.toThrow();
  expect(await readdir(join(folder, 'unfinished'))).toEqual([]);
});

it.each(['failing', 'hung', 'full'] as const)('rejects if S3 is %s', async (behaviour) => {
  s3.behaviour = behaviour;
  try {
    const put = stores.s3.put('packs/three', Buffer.from('3'), AbortSignal.timeout(500));
    await expect(put).rejects.toThrow();
  } finally {
    s3.behaviour = 'normal';
  }
});

it('does not report an object as missing if the folder is missing', async () => {
  const away = await openStore(String(pathToFileURL(join(folder, 'away'))));
  await expect(away.read('packs/one', 0, 1, signal)).rejects.not.toBeInstanceOf(ObjectMissing);
});

it('refuses URLs of other kinds or with credentials', () => {
  const urls = [
    'file:///folder',
    's3://bucket',
    's3://bucket/a/b',
    's3://id:key@bucket',
    'file://',
    'https://s3/b',
    's3://b/?x',
    'x',
  ];
  expect(urls.map((url) => archiveUrlFault(url) === undefined)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});
