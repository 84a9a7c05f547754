import { TlogError } from '../errors';
import type { HashReader } from '../tree/proofs';
import { requireTreeSize, type TreeNode } from '../tree/subtrees';
import { hashesAtTileLevel, TILE_HEIGHT, TILE_WIDTH } from './new-tiles';
import type { TileHashes } from './tile-hashes';
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
    for (const { level, index } of positions) {
      const width = Math.min(TILE_WIDTH, hashesAtTileLevel(size, level) - index * TILE_WIDTH);
      tiles.set(`${level}/${index}`, { level, index, width });
    }
    const read = tiles.size === 0 ? [] : await readTiles([...tiles.values()]);
    if (read.length !== tiles.size) {
      throw new TlogError('unreadable', `${tiles.size} tiles were asked for, ${read.length} came: give each its own.`);
    }
    const byName = new Map([...tiles.keys()].map((name, at) => [name, read[at]!]));
    return positions.map(({ level, index, height, offset }) => byName.get(`${level}/${index}`)!.node(height, offset));
  };
}
