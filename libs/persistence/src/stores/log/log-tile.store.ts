import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/** The first `width` hashes of a tile (C2SP tlog-tiles). */
export interface LogTileRef {
  readonly level: number;
  readonly index: number;
  readonly width: number;
}

const HASH_BYTES = 32;

const READ = statement<{ inputs: readonly LogTileRef[] }, { hashes: Buffer | null }>('log_tiles_read');

/** The stored hashes of the tree, in tiles. */
export class LogTileStore {
  constructor(private readonly sql: Pick<Sql, 'run'>) {}

  /**
   * Returns the hashes of each tile, in the order of the request. A tile may have fewer hashes than requested. Throws if one is
   * missing.
   */
  async read(tiles: readonly LogTileRef[]): Promise<Buffer[]> {
    if (tiles.length === 0) return [];
    const rows = await this.sql.run(READ, { inputs: tiles });
    return rows.map(({ hashes }, place) => {
      const tile = tiles[place];
      if (hashes === null) throw new Error(`the log has no tile ${tile?.level}/${tile?.index}`);
      return hashes;
    });
  }

  /** Returns the hashes of a tile. Returns null if the stored tree has no such tile, or only a narrower one. */
  async find(tile: LogTileRef): Promise<Buffer | null> {
    const [row] = await this.sql.run(READ, { inputs: [tile] });
    return row?.hashes?.length === HASH_BYTES * tile.width ? row.hashes : null;
  }
}
