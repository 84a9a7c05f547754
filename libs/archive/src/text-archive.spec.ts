import { createCipheriv, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { type Block, BLOCK_BYTES, BlockCache } from './block-cache';
import { openText, openTexts, PackBuilder, sealText } from './pack';
import type { PackedText } from './packed-text';
import { MemoryStore } from '../../../tools/testing/memory-store';
import { rangesOf } from './ranges';
import { nameOfObject, TextArchive } from './text-archive';
import { TextCache } from './text-cache';

const TEXTS = Array.from({ length: 20 }, (_, index) => `{"number":${index},"padding":"${'x'.repeat(index * 100)}"}`);

/** Stores one pack of all texts. */
function packed(...stores: readonly MemoryStore[]): PackedText[] {
  const object = randomUUID();
  const pack = new PackBuilder();
  const places = TEXTS.map((text) => {
    const secret = randomBytes(32);
    return { object, secret, ...pack.add(sealText(text, secret)) };
  });
  for (const store of stores) store.objects.set(nameOfObject(object), pack.build());
  return places;
}

function damage(store: MemoryStore, { object, offset }: PackedText): void {
  const bytes = store.objects.get(nameOfObject(object));
  bytes?.writeUInt8(bytes.readUInt8(offset + 15) ^ 1, offset + 15);
}

it('opens a sealed text only if it is unchanged and the secret is right', () => {
  const secret = randomBytes(32);
  const sealed = sealText('{"text":"Zürich 🏔"}', secret);
  expect(openText(sealed, secret)).toBe('{"text":"Zürich 🏔"}');
  expect(openText(sealed, randomBytes(32))).toBeNull();
  for (const at of [0, 12, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(openText(changed, secret)).toBeNull();
  }
  for (const length of [0, 28, sealed.length - 1]) expect(openText(sealed.subarray(0, length), secret)).toBeNull();
});

it('seals a text differently each time', () => {
  const secret = randomBytes(32);
  expect(sealText('{}', secret).equals(sealText('{}', secret))).toBe(false);
});

it('reads neighbouring texts of a pack in one request, and then from its cache', async () => {
  const store = new MemoryStore();
  const archive = new TextArchive(store, null);
  const places = packed(store);
  expect(await archive.read(places.toReversed())).toEqual(TEXTS.toReversed());
  expect(await archive.read(places)).toEqual(TEXTS);
  expect(store.reads).toBe(1);
  expect(archive.outcomes).toMatchObject({ answered: 20, cached: 20 });
});

it('returns null only for the damaged text', async () => {
  const store = new MemoryStore();
  const places = packed(store);
  const [first, second] = places;
  if (first === undefined || second === undefined) throw new Error('there are two');
  damage(store, second);
  const archive = new TextArchive(store, null);
  expect(await archive.read([first, second])).toEqual([TEXTS[0], null]);
  expect(archive.outcomes).toMatchObject({ answered: 1, damaged: 1 });
});

it.each([
  ['fails', (store: MemoryStore) => void (store.before = () => Promise.reject(new Error('away')))],
  ['has lost the object', (store: MemoryStore) => store.objects.clear()],
  ['has damaged bytes', (store: MemoryStore, [first]: PackedText[]) => first && damage(store, first)],
  [
    'has a shorter object',
    (store: MemoryStore) => store.objects.forEach((bytes, name) => store.objects.set(name, bytes.subarray(0, 9))),
  ],
])('reads the second store if the first one %s', async (_, hurt) => {
  const [store, mirror] = [new MemoryStore(), new MemoryStore()];
  const places = packed(store, mirror);
  hurt(store, places);
  expect(await new TextArchive(store, mirror).read(places)).toEqual(TEXTS);
});

it('reads the second store after half of the timeout if the first one hangs', async () => {
  const [store, mirror] = [new MemoryStore(), new MemoryStore()];
  const places = packed(store, mirror);
  store.before = () => new Promise(() => undefined);
  expect(await new TextArchive(store, mirror).read(places, 1_000)).toEqual(TEXTS);
});

it('copies a pack once, and refuses a copy that reads back different', async () => {
  const [store, other] = [new MemoryStore(), new MemoryStore()];
  const [{ object } = { object: '' }] = packed(store);
  const { length } = store.objects.get(nameOfObject(object)) ?? Buffer.alloc(0);
  const copy = () => new TextArchive(store, null).copy(object, length, new TextArchive(other, null));
  other.before = (call, name) => {
    if (call === 'read') other.objects.get(name)?.fill(7);
  };
  await expect(copy()).rejects.toThrow('returned other bytes');
  other.before = () => undefined;
  other.objects.clear();
  expect([await copy(), await copy()]).toEqual(['copied', 'present']);
  expect(other.objects).toEqual(store.objects);
});

it('copies a pack from the second store if the first one has only a part of it', async () => {
  const [store, mirror, other] = [new MemoryStore(), new MemoryStore(), new MemoryStore()];
  const [{ object } = { object: '' }] = packed(store, mirror);
  const pack = mirror.objects.get(nameOfObject(object)) ?? Buffer.alloc(0);
  store.objects.set(nameOfObject(object), pack.subarray(0, 9));
  await new TextArchive(store, mirror).copy(object, pack.length, new TextArchive(other, null));
  expect(other.objects).toEqual(mirror.objects);
});

it.each([
  ['all stores have lost the object', (mirror: MemoryStore) => mirror.objects.clear(), TEXTS.map(() => null)],
  [
    'one store has lost it and the other one fails',
    (mirror: MemoryStore) => void (mirror.before = () => Promise.reject(new Error('away'))),
    'archive_unavailable',
  ],
])('distinguishes lost texts from unavailable ones if %s', async (_, hurt, expected) => {
  const [store, mirror] = [new MemoryStore(), new MemoryStore()];
  const places = packed(mirror);
  hurt(mirror);
  const read = new TextArchive(store, mirror).read(places);
  expect(await read.catch((error: { code: string }) => error.code)).toEqual(expected);
});

it('is unavailable if no store answers, and does not retry a store that has just failed', async () => {
  const store = new MemoryStore();
  const archive = new TextArchive(store, null);
  const places = packed(store);
  store.before = () => Promise.reject(new Error('away'));
  const read = (): Promise<unknown> => archive.read(places).catch((error: { code: string }) => error.code);
  expect([await read(), await read()]).toEqual(['archive_unavailable', 'archive_unavailable']);
  expect(store.reads).toBe(1);
});

it('still reads other objects from a store that has lost one', async () => {
  const store = new MemoryStore();
  const archive = new TextArchive(store, null);
  const [lost, others] = [packed(), packed(store)];
  expect(await archive.read(lost)).toEqual(TEXTS.map(() => null));
  expect(await archive.read(others)).toEqual(TEXTS);
});

it('joins ranges of texts across small gaps, up to 8 MiB', () => {
  const text = (offset: number, length: number): PackedText => ({
    object: 'o',
    offset,
    length,
    secret: Buffer.alloc(0),
  });
  const [gap, most] = [64 * 1024, 8 << 20];
  const lengths = (...texts: PackedText[]) => rangesOf(texts).map(({ length }) => length);
  expect(lengths(text(0, 10), text(10 + gap, 10))).toEqual([gap + 20]);
  expect(lengths(text(0, 10), text(11 + gap, 10))).toEqual([10, 10]);
  expect(lengths(text(0, 10), text(10, most - 10))).toEqual([most]);
  expect(lengths(text(0, 10), text(10, most - 9))).toEqual([10, most - 9]);
});

it('reads a block again after a failure', async () => {
  const block: Block = { bytes: Buffer.alloc(0), isMirrored: false };
  const outcomes = [Promise.reject(new Error('away')), Promise.resolve(block)];
  const cache = new BlockCache(2, () => outcomes.shift() ?? Promise.resolve(block));
  await expect(cache.get('o', BLOCK_BYTES)).rejects.toThrow('away');
  expect(await cache.get('o', BLOCK_BYTES)).toEqual([block, false]);
});

it.each(['up', 'down'])('reads a pack in large blocks, and the next one ahead, on the way %s', async (way) => {
  const store = new MemoryStore();
  const object = randomUUID();
  const pack = new PackBuilder();
  const texts = Array.from({ length: 400 }, (_, index) => `${index} ${randomBytes(8_000).toString('base64')}`);
  const places = texts.map((text) => {
    const secret = randomBytes(32);
    return { text, place: { object, secret, ...pack.add(sealText(text, secret)) } };
  });
  store.objects.set(nameOfObject(object), pack.build());
  const archive = new TextArchive(store, null);
  const ordered = way === 'up' ? places : places.toReversed();
  for (let start = 0; start < ordered.length; start += 10) {
    const step = ordered.slice(start, start + 10);
    expect(await archive.read(step.map(({ place }) => place))).toEqual(step.map(({ text }) => text));
    // The pack has four blocks. The last one may be small.
    if (start === 10) expect(store.reads).toBeLessThanOrEqual(3);
  }
  // Beyond the end there is one more, which is empty.
  expect(store.reads).toBeLessThanOrEqual(5);
  // Each text of a block that was read ahead counts as cached. The blocks keep it, so the cache of texts does not.
  expect(archive.outcomes.answered + archive.outcomes.cached).toBe(texts.length);
  expect(archive.outcomes.cached).toBeGreaterThan(300);
  const { reads } = store;
  await archive.read(places.slice(0, 1).map(({ place }) => place));
  expect(store.reads).toBe(reads + 1);
});

it('does not cache a block with damaged bytes', async () => {
  const store = new MemoryStore();
  const object = randomUUID();
  const [pack, secret] = [new PackBuilder(), randomBytes(32)];
  const text = randomBytes(40_000).toString('base64');
  const place = { object, secret, ...pack.add(sealText(text, secret)) };
  store.objects.set(nameOfObject(object), pack.build());
  const archive = new TextArchive(store, null);
  damage(store, place);
  expect(await archive.read([place])).toEqual([null]);
  damage(store, place);
  expect(await archive.read([place])).toEqual([text]);
});

it('drops the least recently used texts from a full cache, and no more than necessary', () => {
  const cache = new TextCache(80);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const add = (name: string): void => cache.set(name, Buffer.alloc(20, name));
  names.slice(0, 4).forEach(add);
  cache.get('a');
  names.slice(4).forEach(add);
  expect(names.filter((name) => cache.get(name) !== undefined)).toEqual(['a', 'd', 'e', 'f']);
  cache.set('large', Buffer.alloc(21));
  expect(cache.get('large')).toBeUndefined();
});

it.each([1, 255, 256, 65_791, 65_792, 200_000])('opens a text of %d bytes together with others', (bytes) => {
  const texts = ['{}', 'x'.repeat(bytes), '{"last":true}'];
  const sealed = texts.map((text) => {
    const secret = randomBytes(32);
    return { sealed: sealText(text, secret), secret };
  });
  const [first] = sealed;
  expect(openTexts(sealed).map(([, text]) => text)).toEqual(texts);
  expect(openTexts([...sealed, { sealed: Buffer.alloc(40), secret: randomBytes(32) }]).at(-1)?.[1]).toBeNull();
  if (first !== undefined) expect(openTexts([{ ...first, secret: randomBytes(32) }, ...sealed])[0]?.[1]).toBeNull();
});

/** Seals bytes that are no frame of one text, with the right key. */
function sealBytes(bytes: Buffer, secret: Buffer): Buffer {
  const key = new DataView(hkdfSync('sha256', secret, '', 'iss archived text v1', 32));
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

const frame = zstdCompressSync(Buffer.from('{}'), { pledgedSrcSize: 2 });

it.each([
  ['no frame', Buffer.from('not zstd'), null],
  ['two bytes', Buffer.from('xx'), null],
  ['two frames', Buffer.concat([frame, frame]), '{}{}'],
  ['a frame without its size', zstdCompressSync(Buffer.from('{"old":true}')), '{"old":true}'],
])('opens the neighbours of authentic bytes that are %s', (_, bytes, text) => {
  const secret = randomBytes(32);
  const texts = [sealText('{"first":1}', secret), sealBytes(bytes, secret), sealText('{"last":3}', secret)];
  const opened = openTexts(texts.map((sealed) => ({ sealed, secret }))).map(([, found]) => found);
  expect(opened).toEqual(['{"first":1}', text, '{"last":3}']);
});
