import { HASH_SIZE } from '../hash/sha256';

/** Levels of the tree in a tile. */
export const TILE_HEIGHT = 8;
/** Hashes in a full tile. */
export const TILE_WIDTH = 2 ** TILE_HEIGHT;

/** Hashes to add to one tile at `offset`, 32 bytes each. The tile is new if `offset` is 0. */
export interface TileHashesAdded {
  readonly level: number;
  readonly index: number;
  readonly offset: number;
  readonly hashes: Uint8Array;
}

/** Returns the number of hashes at a level of tiles in a tree of this size. */
export function hashesAtTileLevel(size: number, level: number): number {
  return Math.floor(size / TILE_WIDTH ** level);
}

/** Allocates room for the hashes that each level of tiles gets when a tree grows, from level 0 up. */
export function newHashesByTileLevel(oldSize: number, newSize: number): Uint8Array[] {
  const levels: Uint8Array[] = [];
  for (let level = 0; hashesAtTileLevel(newSize, level) > hashesAtTileLevel(oldSize, level); level++) {
    const count = hashesAtTileLevel(newSize, level) - hashesAtTileLevel(oldSize, level);
    levels.push(new Uint8Array(count * HASH_SIZE));
  }
  return levels;
}

/** Divides the new hashes of a level into tiles. The first one is hash number `from` of the level. */
export function cutIntoTiles(level: number, from: number, hashes: Uint8Array): TileHashesAdded[] {
  const tiles: TileHashesAdded[] = [];
  const to = from + hashes.length / HASH_SIZE;
  for (let at = from; at < to;) {
    const index = Math.floor(at / TILE_WIDTH);
    const end = Math.min(to, (index + 1) * TILE_WIDTH);
    const part = hashes.subarray((at - from) * HASH_SIZE, (end - from) * HASH_SIZE);
    tiles.push({ level, index, offset: at % TILE_WIDTH, hashes: part });
    at = end;
  }
  return tiles;
}
