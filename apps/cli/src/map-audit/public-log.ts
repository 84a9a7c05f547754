import { Members, VerificationError } from '@iss/proof';
import {
  encodeBase64,
  formatEntryBundlePath,
  formatTilePath,
  type HashReader,
  parseEntryBundle,
  readConsistencyProof,
  readRightEdge,
  type RightEdge,
  type Tile,
  TILE_WIDTH,
  TileHashes,
  tileHashReader,
  TlogError,
} from '@iss/tlog';
import { Failure } from '../command';
import { below, fetchBytes, fetchText, RefusedFetch } from '../fetch-text';

/** A bundle of 256 entries of the largest size. */
const MAX_BUNDLE_BYTES = TILE_WIDTH * (2 + 0xffff);
/** Bundles that are fetched at the same time. */
const AHEAD = 4;

/** Entries from a log index on, in order. */
export interface Entries {
  readonly from: number;
  readonly entries: readonly Uint8Array[];
}

/** Reads the public part of a log (C2SP tlog-tiles). Nothing that it returns is verified. Needs no account. */
export class PublicLog {
  constructor(
    private readonly prefix: string,
    private readonly signal?: AbortSignal,
  ) {}

  /** Returns the log index from which entries are public; null if the log has no map. @throws Failure */
  async mapStartsAt(): Promise<number | null> {
    const url = below(this.prefix, 'keys');
    try {
      const keys = Members.parse(url.href, await fetchText(url, this.signal));
      return !keys.has('map_starts_at') || keys.value('map_starts_at') === null ? null : keys.count('map_starts_at');
    } catch (error) {
      // The log has published no checkpoint yet, so it is new.
      if (error instanceof RefusedFetch && error.status === 404) return 0;
      throw error instanceof VerificationError ? new Failure(error.message) : error;
    }
  }

  /** Reads the right edge of the tree of this size. @throws Failure */
  async rightEdge(size: number): Promise<RightEdge> {
    return this.readable(() => readRightEdge(size, this.hashesOf(size)));
  }

  /** Makes a consistency proof of the tiles, each hash in base64. @throws Failure */
  async consistency(from: number, to: number): Promise<string[]> {
    return (await this.readable(() => readConsistencyProof(from, to, this.hashesOf(to)))).map(encodeBase64);
  }

  private hashesOf(size: number): HashReader {
    const tileOf = async (tile: Tile): Promise<TileHashes> =>
      new TileHashes(await fetchBytes(below(this.prefix, formatTilePath(tile)), this.signal));
    return tileHashReader(size, (tiles) => Promise.all(tiles.map(tileOf)));
  }

  /** Yields the entries from `from` to `to`, exclusive, bundle by bundle. @throws Failure */
  async *entries(from: number, to: number): AsyncGenerator<Entries, void> {
    if (from >= to) return;
    const waiting: Promise<Entries>[] = [];
    let next = Math.floor(from / TILE_WIDTH);
    for (;;) {
      for (; waiting.length < AHEAD && next * TILE_WIDTH < to; next++) {
        const bundle = this.bundle(next, Math.min(TILE_WIDTH, to - next * TILE_WIDTH));
        // The error is thrown when the bundle is awaited.
        bundle.catch(() => undefined);
        waiting.push(bundle);
      }
      const first = await waiting.shift();
      if (first === undefined) return;
      const known = Math.max(0, from - first.from);
      yield { from: first.from + known, entries: first.entries.slice(known) };
    }
  }

  private bundle(index: number, width: number): Promise<Entries> {
    const url = below(this.prefix, formatEntryBundlePath({ index, width }));
    return this.readable(async () => ({
      from: index * TILE_WIDTH,
      entries: parseEntryBundle(await fetchBytes(url, this.signal, MAX_BUNDLE_BYTES), width),
    }));
  }

  private async readable<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof TlogError ? new Failure(`${this.prefix}: ${error.message}`) : error;
    }
  }
}
