import { TlogError } from '../errors';
import type { HashReader } from '../tree/proofs';
import { requireTreeSize, type TreeNode } from '../tree/subtrees';
import { hashesAtTileLevel, TILE_HEIGHT, TILE_WIDTH } from './new-tiles';
import { TileHashes } from './tile-hashes';
import type { Tile } from './tile-path';

/** Reads tiles in one call, in the requested order. It may return wider tiles than requested. */
export type TileReader = (tiles: readonly Tile[]) => Promise<readonly TileHashes[]>;

/** The position of a node: its tile, its height above the tile's hashes, and its offset at that height. */
export interface TilePosition {
  readonly level: number;
  readonly index: number;
  readonly height: number;
  readonly offset: number;
}

/** Returns the node's position in the tile that needs the least hashing. */
export function positionInTile(node: TreeNode): TilePosition {
  const level = Math.floor(node.level / TILE_HEIGHT);
  const height = node.level % TILE_HEIGHT;
  const perTile = 2 ** (TILE_HEIGHT - height);
  return { level, index: Math.floor(node.index / perTile), height, offset: node.index % perTile };
}

/** Returns the tile with its width in a tree of `size` leaves. */
function tileOf(level: number, index: number, size: number): Tile {
  return { level, index, width: Math.min(TILE_WIDTH, hashesAtTileLevel(size, level) - index * TILE_WIDTH) };
}

/**
 * Returns the tiles that contain every node of these leaves' inclusion proofs: at each level the tiles above the
 * leaves, and the last tile, which has the tree's right edge.
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

/** Returns a function that finds nodes in the given tiles. It throws `unreadable` if the tile of a node is missing. */
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
 * Makes a reader of hashes in a tree of `size` leaves. It calls `readTiles` once and requests each tile once, no wider
 * than in this tree. Nothing is checked against a root: a proof from wrong tiles does not verify.
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
      throw new TlogError('unreadable', `The reader returned ${read.length} of ${tiles.size} tiles: return one each.`);
    }
    const byName = new Map([...tiles.keys()].map((name, at) => [name, read[at]!]));
    return positions.map(({ level, index, height, offset }) => byName.get(`${level}/${index}`)!.node(height, offset));
  };
}
