import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { findKeys, insertKeys, readPath, readPaths, readMapRoot, rootOfSorted, valueOf, verifyPath } from '../index';
import { MemoryRows } from '../testing/memory-rows';
import { type NaiveKey, naiveRoot } from '../testing/naive-map';
import { refusal } from '../testing/refusal';
import { formatBucket, mapLeavesOf, parseBucket } from './bucket';
import { formatTile, parseTile } from './tile';

const keyOf = (name: number | string): Buffer => createHash('sha256').update(String(name)).digest();
/** Keys that share many first bits, as honest keys never do. */
const closeKey = (name: number | string): Buffer => {
  const key = keyOf(name);
  key.fill(0xa5, 0, Number(name) % 6);
  return key;
};

async function grow(
  rows: MemoryRows,
  from: number,
  to: number,
  key: (name: number) => Buffer = keyOf,
): Promise<Uint8Array> {
  const added = Array.from({ length: to - from }, (_, at) => ({ key: key(from + at), logIndex: from + at }));
  const change = await insertKeys(added, rows);
  rows.apply(change);
  return change.root;
}

const naive = (count: number, key: (name: number) => Buffer = keyOf): NaiveKey[] =>
  Array.from({ length: count }, (_, at) => ({ key: key(at), logIndexes: [at] }));

describe('the stored map', () => {
  it.each([
    ['random', keyOf],
    ['close', closeKey],
  ])('has the same root as the naive map after any batches of %s keys', async (_name, key) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(200), { maxLength: 4 }), async (sizes) => {
        const rows = new MemoryRows();
        let count = 0;
        let root: Uint8Array = naiveRoot([]);
        for (const size of sizes) {
          root = await grow(rows, count, count + size, key);
          count += size;
        }
        expect(Buffer.from(root)).toEqual(naiveRoot(naive(count, key)));
        expect(Buffer.from(await readMapRoot(rows))).toEqual(naiveRoot(naive(count, key)));
        const asked = [...naive(count, key).slice(-5), ...naive(3, (name: number) => key(1_000_000 + name))];
        const paths = await readPaths(
          asked.map((one) => one.key),
          rows,
        );
        paths.forEach((path, at) => {
          const isPresent = at < asked.length - 3;
          expect(path.logIndexes).toEqual(isPresent ? asked[at]!.logIndexes : []);
          verifyPath(root, asked[at]!.key, isPresent ? valueOf(path.logIndexes) : null, path);
        });
      }),
      { numRuns: 8 },
    );
  });

  it('stores each log index of a key once', async () => {
    const rows = new MemoryRows();
    await grow(rows, 0, 60);
    const again = await insertKeys([{ key: keyOf(7), logIndex: 7 }], rows);
    expect(Buffer.from(again.root)).toEqual(naiveRoot(naive(60)));
    expect(again.added).toBe(0);
    rows.apply(await insertKeys([{ key: keyOf(7), logIndex: 99 }], rows));
    const expected = naive(60).map((one, at) => (at === 7 ? { ...one, logIndexes: [7, 99] } : one));
    expect(Buffer.from(await readMapRoot(rows))).toEqual(naiveRoot(expected));
    expect((await readPath(keyOf(7), rows)).logIndexes).toEqual([7, 99]);
  });

  it('finds a key by its first bytes and a log index', async () => {
    const rows = new MemoryRows();
    await grow(rows, 0, 3_000);
    const wanted = [5, 2_999].map((name) => ({ prefix: keyOf(name).subarray(0, 7), logIndex: name }));
    const found = await findKeys([...wanted, { prefix: keyOf(5).subarray(0, 7), logIndex: 6 }], rows);
    expect(found.map((key) => key && Buffer.from(key))).toEqual([keyOf(5), keyOf(2_999), undefined]);
  });

  it('reads few rows, stores few bytes, and writes only rows on the path', async () => {
    const rows = new MemoryRows();
    for (let from = 0; from < 10_000; from += 4_000) await grow(rows, from, from + 4_000);
    // Besides rows and their paths, PostgreSQL stores about 28 + 24 bytes for each.
    const stored = rows.bytes + 52 * (rows.tileRows.size + rows.bucketRows.size);
    expect(stored / 10_000).toBeLessThan(52);
    rows.rowsRead = 0;
    await readPath(keyOf(1), rows);
    expect(rows.rowsRead).toBe(3);
    rows.calls = 0;
    const change = await insertKeys([{ key: keyOf('new'), logIndex: 10_000 }], rows);
    expect(change.tiles.length + change.buckets.length).toBeLessThanOrEqual(5);
    expect(rows.calls).toBe(3);
  });

  it('refuses rows that are missing or malformed', async () => {
    const rows = new MemoryRows();
    await grow(rows, 0, 500);
    const [name] = rows.bucketRows.keys();
    const missing = rows.bucketRows.get(name!)!;
    rows.bucketRows.delete(name!);
    const { key } = parseBucket(missing.content)[0]!;
    await expect(readPath(key, rows)).rejects.toMatchObject({ code: 'malformed' });
    await expect(insertKeys([{ key, logIndex: 1_000 }], rows)).rejects.toMatchObject({ code: 'malformed' });
    rows.bucketRows.set(name!, { ...missing, content: missing.content.slice(1) });
    await expect(readPath(key, rows)).rejects.toMatchObject({ code: 'malformed' });
  });
});

test('stored rows parse to what was formatted, and malformed rows are refused', () => {
  const keys = [0, 2 ** 31, 2 ** 40 - 1].map((index, at) => {
    const key = Buffer.alloc(32, at);
    return { key: new Uint8Array(key), logIndexes: at === 1 ? [3, index] : [index] };
  });
  expect(parseBucket(formatBucket(keys))).toEqual(keys);
  const hash = new Uint8Array(32).fill(9);
  const tile = { kind: 'split', zero: { kind: 'bucket', hash }, one: { kind: 'bucket', hash: null } } as const;
  expect(parseTile(formatTile(tile))).toEqual(tile);
  expect(refusal(() => parseTile(new Uint8Array([...formatTile(tile), 0])))).toBe('malformed');
  expect(refusal(() => parseTile(new Uint8Array(100)))).toBe('malformed');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const parse of [parseBucket, parseTile]) {
        try {
          parse(bytes);
        } catch (error) {
          expect(error).toMatchObject({ name: 'MapError', code: 'malformed' });
        }
      }
    }),
    { numRuns: 500 },
  );
});

describe('a path', () => {
  const sorted = naive(100)
    .map(({ key, logIndexes }) => ({ key, logIndexes }))
    .sort((one, other) => Buffer.compare(one.key, other.key));
  const root = rootOfSorted(mapLeavesOf(sorted));

  it('is refused if anything is changed', async () => {
    const rows = new MemoryRows();
    await grow(rows, 0, 100);
    const key = keyOf(42);
    const path = await readPath(key, rows);
    const value = valueOf([42]);
    expect(() => verifyPath(root, key, value, path)).not.toThrow();
    const { leaf, levels } = path;
    for (const [at, level] of levels.entries()) {
      const sibling = Uint8Array.from(level.sibling, (byte, index) => (index === 31 ? byte ^ 1 : byte));
      for (const changed of [[{ ...level, sibling }], [{ ...level, bit: level.bit + 1 }], []]) {
        const other = { leaf, levels: levels.toSpliced(at, 1, ...changed) };
        expect(refusal(() => verifyPath(root, key, value, other))).toBe('path_refused');
      }
    }
    expect(refusal(() => verifyPath(root, key, valueOf([41]), path))).toBe('path_refused');
    expect(refusal(() => verifyPath(root, key, null, path))).toBe('path_refused');
    expect(refusal(() => verifyPath(root, keyOf(43), value, path))).toBe('path_refused');
    expect(refusal(() => verifyPath(root, keyOf(43), null, path))).toBe('path_refused');
    expect(refusal(() => verifyPath(root, key, null, { leaf: null, levels: [] }))).toBe('path_refused');
  });

  it('requires keys in ascending order', () => {
    expect(refusal(() => rootOfSorted(mapLeavesOf(sorted.toReversed())))).toBe('malformed');
  });
});
