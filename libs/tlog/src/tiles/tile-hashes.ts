import { TlogError } from '../errors';
import { HASH_SIZE } from '../hash/sha256';
import { nodeHash } from '../tree/hashes';
import { TILE_HEIGHT, TILE_WIDTH } from './new-tiles';

/**
 * The hashes of one tile and of the nodes above them inside the tile. The nodes are computed when first requested and
 * cached in 8 KiB, so keep the object of a full tile to reuse them.
 */
export class TileHashes {
  readonly width: number;
  /** The nodes above, 32 bytes each, in the order of a heap: the tile's root is number 1. */
  private above: Uint8Array | undefined;
  private readonly isKnown = new Uint8Array(TILE_WIDTH);

  /**
   * @param bytes the tile as it is stored and served, 32 bytes for each hash; it is not copied
   * @throws TlogError `malformed` unless it has 1 to 256 whole hashes
   */
  constructor(private readonly bytes: Uint8Array) {
    this.width = bytes.length / HASH_SIZE;
    if (!Number.isInteger(this.width) || this.width < 1 || this.width > TILE_WIDTH) {
      throw new TlogError(
        'malformed',
        `A tile has 1 to ${TILE_WIDTH} hashes of ${HASH_SIZE} bytes, not ${bytes.length} bytes: fetch it again.`,
      );
    }
  }

  /**
   * Returns the `index`th node at `height` levels (0 to 8) above the tile's own hashes. It is a view into the tile; do
   * not write to it.
   *
   * @throws TlogError `unreadable` if the tile is not wide enough
   */
  node(height: number, index: number): Uint8Array {
    if ((index + 1) * 2 ** height > this.width) {
      throw new TlogError(
        'unreadable',
        `A tile of width ${(index + 1) * 2 ** height} or more is needed, this one has ${this.width}: fetch the wider one.`,
      );
    }
    if (height === 0) return this.bytes.subarray(index * HASH_SIZE, (index + 1) * HASH_SIZE);
    this.above ??= new Uint8Array(TILE_WIDTH * HASH_SIZE);
    const place = 2 ** (TILE_HEIGHT - height) + index;
    const hash = this.above.subarray(place * HASH_SIZE, (place + 1) * HASH_SIZE);
    if (this.isKnown[place] === 0) {
      hash.set(nodeHash(this.node(height - 1, 2 * index), this.node(height - 1, 2 * index + 1)));
      this.isKnown[place] = 1;
    }
    return hash;
  }
}
