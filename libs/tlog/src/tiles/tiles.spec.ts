import fc from 'fast-check';
import {
  appendLeaves,
  EMPTY_EDGE,
  formatTilePath,
  hashesAtTileLevel,
  inclusionProofs,
  inclusionTiles,
  leafHash,
  nodesIn,
  parseTilePath,
  readConsistencyProof,
  readInclusionProof,
  readRightEdge,
  readRoot,
  rootOfEdge,
  TileHashes,
  tileHashReader,
  TlogError,
  verifyConsistency,
  verifyInclusion,
  type RightEdge,
  type TreeHead,
} from '../index';
import { MemoryTiles } from '../testing/memory-tiles';
import { naiveTree } from '../testing/naive-tree';
import { refusal, refusalOf } from '../testing/refusal';
import { IS_FULL, runs } from '../../../../tools/testing/runs';

describe('tile paths', () => {
  test.each([
    // The example of C2SP tlog-tiles "Merkle Tree", and of Go's sumdb/tlog.
    ['tile/0/x001/x234/067', { level: 0, index: 1_234_067, width: 256 }],
    ['tile/4/x001/x234/067.p/1', { level: 4, index: 1_234_067, width: 1 }],
    ['tile/0/000', { level: 0, index: 0, width: 256 }],
    ['tile/63/999.p/255', { level: 63, index: 999, width: 255 }],
    ['tile/1/x001/000.p/17', { level: 1, index: 1000, width: 17 }],
    ['tile/0/x009/x007/x199/x254/x740/991', { level: 0, index: Number.MAX_SAFE_INTEGER, width: 256 }],
  ])('parse and format %s', (path, tile) => {
    expect(parseTilePath(path)).toEqual(tile);
    expect(formatTilePath(tile)).toBe(path);
  });

  test.each([
    '',
    'tile',
    '/tile/0/000',
    'tile/0/000/',
    'tile/0/000.p',
    'tile/0/000.p/',
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/0/000.p/01',
    'tile/0/000.p/-1',
    'tile/0/000.p/1/',
    'tile/00/000',
    'tile/64/000',
    'tile/-1/000',
    'tile/0/0',
    'tile/0/0000',
    'tile/0/x000/000',
    'tile/0/x000/001',
    'tile/0/001/000',
    'tile/0/x001/x000',
    'tile/0/X001/000',
    'tile/0/x001/ 00',
    'tile/0/x001//000',
    'tile/0/%30%30%30',
    'tile/0/٠٠٠',
    'tile/0/000\n',
    'tile/8/0/000',
    'tile/entries/000',
    'tile/0/x009/x007/x199/x254/x740/992',
    `tile/0/${'x999/'.repeat(5)}999`,
    `tile/0/${'x000/'.repeat(100_000)}000`,
  ])('refuse %s', (path) => {
    expect(['malformed', 'out_of_range']).toContain(refusal(() => parseTilePath(path)));
  });

  test('parse to the tile that was formatted', () => {
    const anyTile = fc.record({
      level: fc.nat(63),
      index: fc.oneof(fc.nat(2000), fc.nat(Number.MAX_SAFE_INTEGER)),
      width: fc.integer({ min: 1, max: 256 }),
    });
    fc.assert(fc.property(anyTile, (tile) => expect(parseTilePath(formatTilePath(tile))).toEqual(tile)));
    expect(refusal(() => formatTilePath({ level: 64, index: 0, width: 1 }))).toBe('out_of_range');
    expect(refusal(() => formatTilePath({ level: 0, index: -1, width: 1 }))).toBe('out_of_range');
    expect(refusal(() => formatTilePath({ level: 0, index: 0, width: 257 }))).toBe('out_of_range');
  });

  test('format to the path that was parsed', () => {
    const anyPath = fc.stringMatching(/^tile\/[0-9]{1,2}\/(x[0-9]{3}\/){0,2}[0-9]{3}(\.p\/[0-9]{1,3})?$/);
    fc.assert(
      fc.property(anyPath, (path) => {
        try {
          expect(formatTilePath(parseTilePath(path))).toBe(path);
        } catch (error) {
          if (!(error instanceof TlogError)) throw error;
        }
      }),
    );
  });
});

describe('a tree in tiles', () => {
  const SIZE = 70_000;
  const leaves = Array.from({ length: SIZE }, (_, index) => leafHash(`leaf ${index}`));

  test('has the tiles of C2SP for 70,000 leaves, regardless of the batches', () => {
    const widths = (tiles: MemoryTiles, level: number): number[] =>
      Array.from({ length: Math.ceil(hashesAtTileLevel(SIZE, level) / 256) }, (_, at) => tiles.width(level, at));
    const roots = [[SIZE], [1, 255, 1, 256, SIZE - 513], [69_999, 1], [30_000, 0, 40_000]].map((batches) => {
      const tiles = new MemoryTiles();
      let edge: RightEdge = EMPTY_EDGE;
      for (const batch of batches) {
        const grown = appendLeaves(edge, leaves.slice(edge.size, edge.size + batch));
        tiles.add(grown.added);
        edge = grown.edge;
      }
      expect(widths(tiles, 0)).toEqual([...Array<number>(273).fill(256), 112]);
      expect(widths(tiles, 1)).toEqual([256, 17]);
      expect(widths(tiles, 2)).toEqual([1]);
      expect(tiles.count).toBe(274 + 2 + 1);
      expect(tiles.get(0, 273)!.equals(Buffer.concat(leaves.slice(273 * 256)))).toBe(true);
      return Buffer.from(rootOfEdge(edge)).toString('hex');
    });
    expect(new Set(roots).size).toBe(1);
  });

  test('has a full tile and one of width 1 above for 256 leaves', () => {
    const { added } = appendLeaves(EMPTY_EDGE, leaves.slice(0, 256));
    expect(added.map(({ level, index, offset, hashes }) => [level, index, offset, hashes.length / 32])).toEqual([
      [0, 0, 0, 256],
      [1, 0, 0, 1],
    ]);
  });

  test('adds only the hashes of new leaves and of completed subtrees', () => {
    const { edge } = appendLeaves(EMPTY_EDGE, leaves.slice(0, 65_535));
    const { added } = appendLeaves(edge, leaves.slice(65_535, 65_540));
    expect(added.map(({ level, index, offset, hashes }) => [level, index, offset, hashes.length / 32])).toEqual([
      [0, 255, 255, 1],
      [0, 256, 0, 4],
      [1, 0, 255, 1],
      [2, 0, 0, 1],
    ]);
    expect(appendLeaves(edge, []).added).toEqual([]);
  });

  test('gives the proofs of RFC 6962, each with one read of existing tiles', async () => {
    const tree = naiveTree(1100);
    const tiles = new MemoryTiles();
    tiles.add(appendLeaves(EMPTY_EDGE, tree.leaves).added);
    const hex = (hashes: readonly Uint8Array[]): string => Buffer.concat(hashes).toString('hex');
    for (const size of [1, 2, 255, 256, 257, 511, 512, 513, 769, 1024, 1100]) {
      const read = tileHashReader(size, tiles.read);
      expect(hex([await readRoot(size, read)])).toBe(hex([tree.root(0, size)]));
      for (let index = 0; index < size; index += IS_FULL ? 7 : 61) {
        tiles.reads = 0;
        expect(hex(await readInclusionProof(index, size, read))).toBe(hex(tree.path(index, 0, size)));
        expect(tiles.reads).toBe(size === 1 ? 0 : 1);
        const around = [index, (7 * index) % size, size - 1];
        const held = inclusionTiles(around, size);
        const nodeOf = nodesIn(held.map((tile) => ({ ...tile, hashes: tiles.get(tile.level, tile.index)! })));
        const together = inclusionProofs(around, size, nodeOf).map(hex);
        expect(together).toEqual(around.map((one) => hex(tree.path(one, 0, size))));
        // Each tile appears once, and only if this tree has it.
        expect(new Set(held.map(({ level, index: at }) => `${level}/${at}`)).size).toBe(held.length);
        expect(held.every(({ width }) => width >= 1 && width <= 256)).toBe(true);
        if (index > 0) expect(hex(await readConsistencyProof(index, size, read))).toBe(hex(tree.proof(index, size)));
      }
      for (const { level, index, width } of tiles.asked.splice(0)) {
        const has = hashesAtTileLevel(size, level) - 256 * index;
        expect(width).toBe(Math.min(256, has));
      }
    }
  });

  test('shares hashes among the proofs of neighbouring leaves', () => {
    const { added } = appendLeaves(EMPTY_EDGE, leaves);
    const tiles = new MemoryTiles();
    tiles.add(added);
    const indexes = Array.from({ length: 256 }, (_, at) => 30_000 + at);
    const held = inclusionTiles(indexes, SIZE);
    const nodeOf = nodesIn(held.map((tile) => ({ ...tile, hashes: tiles.get(tile.level, tile.index)! })));
    let asked = 0;
    const proofs = inclusionProofs(indexes, SIZE, (node) => {
      asked += 1;
      return nodeOf(node);
    });
    expect(proofs.flat().length).toBeGreaterThan(256 * 16);
    expect(new Set(proofs.flat()).size).toBeLessThan(600);
    expect(asked).toBeLessThan(700);
    expect(held).toHaveLength(6);
    expect(refusal(() => inclusionProofs([1_000], SIZE, nodeOf))).toBe('unreadable');
    expect(refusal(() => inclusionProofs([SIZE], SIZE, nodeOf))).toBe('out_of_range');
  });

  test('gives valid proofs between any batches', async () => {
    const anyHistory = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(anyHistory, fc.nat(), async (batches, which) => {
        const tiles = new MemoryTiles();
        let edge: RightEdge = EMPTY_EDGE;
        const heads: TreeHead[] = [];
        for (const batch of batches) {
          const grown = appendLeaves(edge, leaves.slice(edge.size, edge.size + batch));
          tiles.add(grown.added);
          edge = await readRightEdge(grown.edge.size, tileHashReader(grown.edge.size, tiles.read));
          expect(edge).toEqual({
            size: grown.edge.size,
            hashes: grown.edge.hashes.map((hash) => Uint8Array.from(hash)),
          });
          heads.push({ size: grown.edge.size, root: grown.root });
        }
        const newest = heads.at(-1)!;
        const read = tileHashReader(newest.size, tiles.read);
        const index = which % newest.size;
        verifyInclusion(leaves[index]!, index, newest, await readInclusionProof(index, newest.size, read));
        for (const older of heads) {
          verifyConsistency(older, newest, await readConsistencyProof(older.size, newest.size, read));
        }
      }),
      { numRuns: runs(30) },
    );
  });

  test('refuses tiles that are too narrow, missing or malformed', async () => {
    const narrow = tileHashReader(10, () => Promise.resolve([new TileHashes(new Uint8Array(32 * 7))]));
    expect(await refusalOf(readRoot(10, narrow))).toBe('unreadable');
    const none = tileHashReader(10, () => Promise.resolve([]));
    expect(await refusalOf(readRoot(10, none))).toBe('unreadable');
    const twice = tileHashReader(10, () => Promise.resolve([0, 1].map(() => new TileHashes(new Uint8Array(32 * 10)))));
    expect(await refusalOf(readRoot(10, twice))).toBe('unreadable');
    for (const length of [0, 1, 31, 33, 257 * 32]) {
      expect(refusal(() => new TileHashes(new Uint8Array(length)))).toBe('malformed');
    }
  });
});
