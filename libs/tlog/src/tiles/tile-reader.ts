import { TlogError } from '../errors';
import type { HashReader } from '../tree/proofs';
import { requireTreeSize, type TreeNode } from '../tree/subtrees';
import { hashesAtTileLevel, TILE_HEIGHT, TILE_WIDTH } from './new-tiles';
import { TileHashes } from './tile-hashes';
import type { Tile } from './tile-path';

/** Reads tiles, all in one call, in the order asked; wider ones than asked for are as good. */
export type TileReader = (tiles: readonly Tile[]) => Promise<readonly TileHashes[]>;

/** Where a node is: in which tile, how many levels above its hashes, and the how many-th of that height there. */
export interface TilePosition {
  readonly level: number;
  readonly index: number;
  readonly height: number;
  readonly offset: number;
}

/** The tile that a node is read from, of all that could make it the one with the least to hash. */
export function positionInTile(node: TreeNode): TilePosition {
  const level = Math.floor(node.level / TILE_HEIGHT);
  const height = node.level % TILE_HEIGHT;
  const perTile = 2 ** (TILE_HEIGHT - height);
  return { level, index: Math.floor(node.index / perTile), height, offset: node.index % perTile };
}

/** The tile, as wide as a tree of `size` leaves has it. */
function tileOf(level: number, index: number, size: number): Tile {
  return { level, index, width: Math.min(TILE_WIDTH, hashesAtTileLevel(size, level) - index * TILE_WIDTH) };
}

/**
 * The tiles that hold every node of the inclusion proofs of these leaves: on each level those above the leaves, and the
 * last one, which has the tree's right edge.
 */
export function inclusionTiles(indexes: readonly number[], size: number): Tile[] {
  const tiles: Tile[] = [];
  for (let level = 0; hashesAtTileLevel(size, level) > 0; level++) {
    const last = Math.ceil(hashesAtTileLevel(size, level) / TILE_WIDTH) - 1;
    const above = indexes.map((index) => Math.min(last, Math.floor(index / TILE_WIDTH ** (level + 1))));
    for (const index of new Set([...above, last])) tiles.push(tileOf(level, index, size));
  }
  return tiles;
}

/** Finds nodes in tiles that are at hand. It throws `unreadable` for a node of another tile. */
export function nodesIn(
  tiles: readonly (Pick<Tile, 'level' | 'index'> & { readonly hashes: Uint8Array })[],
): (node: TreeNode) => Uint8Array {
  const byName = new Map(tiles.map(({ level, index, hashes }) => [`${level}/${index}`, new TileHashes(hashes)]));
  return (node) => {
    const { level, index, height, offset } = positionInTile(node);
    const tile = byName.get(`${level}/${index}`);
    if (tile === undefined) throw new TlogError('unreadable', `Tile ${level}/${index} is needed: read it too.`);
    return tile.node(height, offset);
  };
}

/**
 * Reads the hashes of a tree of `size` leaves out of its tiles, each tile once, in one call of `readTiles`; none wider than
 * that tree has it is asked for.
 *
 * Nothing is checked against a root: a proof that comes of wrong tiles does not verify.
 *
 * @throws TlogError `out_of_range`
 */
export function tileHashReader(size: number, readTiles: TileReader): HashReader {
  requireTreeSize(size, 'size of the tree');
  return async (nodes) => {
    const positions = nodes.map(positionInTile);
    const tiles = new Map<string, Tile>();
    for (const { level, index } of positions) tiles.set(`${level}/${index}`, tileOf(level, index, size));
    const read = tiles.size === 0 ? [] : await readTiles([...tiles.values()]);
    if (read.length !== tiles.size) {
      throw new TlogError('unreadable', `${tiles.size} tiles were asked for, ${read.length} came: give each its own.`);
    }
    const byName = new Map([...tiles.keys()].map((name, at) => [name, read[at]!]));
    return positions.map(({ level, index, height, offset }) => byName.get(`${level}/${index}`)!.node(height, offset));
  };
}
