import { TILE_WIDTH, TileHashes, type Tile, type TileHashesAdded, type TileReader } from '../index';

/** Stores tiles as a database does: one growing row per tile. */
export class MemoryTiles {
  private readonly rows = new Map<string, Buffer>();
  /** The number of calls. */
  reads = 0;
  asked: Tile[] = [];

  add(added: readonly TileHashesAdded[]): void {
    for (const { level, index, offset, hashes } of added) {
      const name = `${level}/${index}`;
      const row = this.rows.get(name) ?? Buffer.alloc(0);
      if (row.length !== offset * 32) throw new Error(`Tile ${name} has ${row.length / 32} hashes, not ${offset}.`);
      this.rows.set(name, Buffer.concat([row, hashes]));
    }
  }

  get(level: number, index: number): Buffer | undefined {
    return this.rows.get(`${level}/${index}`);
  }

  /** Returns the width of a stored tile, or 0 without one. */
  width(level: number, index: number): number {
    return (this.get(level, index)?.length ?? 0) / 32;
  }

  get count(): number {
    return this.rows.size;
  }

  readonly read: TileReader = (tiles) => {
    this.reads++;
    this.asked.push(...tiles);
    return Promise.resolve(
      tiles.map(({ level, index, width }) => {
        if (width < 1 || width > TILE_WIDTH) throw new Error(`No tile has the width ${width}.`);
        return new TileHashes(this.get(level, index)!.subarray(0, width * 32));
      }),
    );
  };
}
