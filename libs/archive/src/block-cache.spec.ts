import { BLOCK_BYTES, type Block, BlockCache } from './block-cache';

/** The offsets that were read, in blocks. */
let read: number[];
let isDown: boolean;
let cache: BlockCache;

beforeEach(() => {
  [read, isDown] = [[], false];
  cache = new BlockCache(3, async (_, offset): Promise<Block> => {
    read.push(offset / BLOCK_BYTES);
    if (isDown) throw new Error('The store is down');
    return { bytes: Buffer.alloc(0), isMirrored: false };
  });
});

/** Reads places in order, each given in blocks. Returns which of them were known. */
async function get(...places: number[]): Promise<boolean[]> {
  const known: boolean[] = [];
  for (const place of places) {
    const [, isKnown] = await cache.get('object', place * BLOCK_BYTES);
    known.push(isKnown);
  }
  return known;
}

it('reads each block once, and the next block ahead for an ascending reader', async () => {
  expect(await get(0.25, 0.5, 1.25, 2.5)).toEqual([false, true, true, true]);
  expect(read).toEqual([0, 1, 2, 3]);
});

it('reads the previous block ahead for a descending reader, and none before the first one', async () => {
  expect(await get(1.5, 1.25, 0.5, 0.25)).toEqual([false, true, true, true]);
  expect(read).toEqual([1, 0]);
});

it('reads nothing ahead for repeated reads of one block', async () => {
  await get(5.5, 5.5, 2.5);
  expect(read).toEqual([5, 2]);
});

it('drops the least recently used block', async () => {
  await get(0, 10, 20);
  await get(0, 30);
  expect([await get(0), await get(10)]).toEqual([[true], [false]]);
});

it('reads a block again that could not be read, or whose bytes were damaged', async () => {
  isDown = true;
  await expect(get(4)).rejects.toThrow('The store is down');
  isDown = false;
  expect([await get(4), await get(4)]).toEqual([[false], [true]]);
  cache.forget('object', 4.5 * BLOCK_BYTES);
  cache.forget('object', 3.5 * BLOCK_BYTES);
  expect(await get(4)).toEqual([false]);
});

it('keeps blocks of different objects apart', async () => {
  await get(0);
  expect((await cache.get('other', 0))[1]).toBe(false);
});
