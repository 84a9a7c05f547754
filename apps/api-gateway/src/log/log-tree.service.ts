import { DomainError } from '@iss/domain';
import { type LogCheckpoint, LogCheckpointStore, type LogKey, LogTileStore } from '@iss/persistence';
import {
  hashesAtTileLevel,
  inclusionTiles,
  readConsistencyProof,
  readInclusionProof,
  TILE_WIDTH,
  type Tile,
  TileHashes,
  tileHashReader,
} from '@iss/tlog';
import { Inject, Injectable } from '@nestjs/common';
import type { Asker } from '../runtime/asker';
import { Work } from '../runtime/work';

/** The newest checkpoint is read again after this time, so it is at most this much older than the published one. */
const FRESH_MS = 50;
/** Published tiles never change. With the hashes of its upper levels, each takes at most about 24 KiB. */
const MAX_TILES = 512;

interface CachedTile {
  bytes: Buffer;
  hashes: TileHashes;
}

/**
 * The content of a tile or bundle. A witness that audits the log is asked before a checkpoint is published, so the content of the
 * stored tree is public too. It changes if the database loses its end before it is published.
 */
export interface LogFileContent {
  readonly bytes: Buffer;
  readonly isPublished: boolean;
}

/** Reads the published log: the newest checkpoint and its tree. */
@Injectable()
export class LogTreeService {
  private newest: { askedAtMs: number; checkpoint: Promise<LogCheckpoint | null> } | undefined;
  /** The origin of the published tree. Another origin has other tiles. */
  private origin = '';
  /** By tile and origin of the log, least recently used first. */
  private readonly cache = new Map<string, CachedTile>();

  constructor(
    @Inject(LogCheckpointStore)
    private readonly checkpoints: Pick<LogCheckpointStore, 'newest' | 'ofSize' | 'keys' | 'policy'>,
    @Inject(LogTileStore) private readonly tiles: Pick<LogTileStore, 'read' | 'find'>,
    @Inject(Work) private readonly work: Pick<Work, 'run'>,
  ) {}

  /** Returns the published checkpoint, or null before the first one. Concurrent callers share one read. */
  checkpoint(): Promise<LogCheckpoint | null> {
    const nowMs = performance.now();
    if (this.newest !== undefined && nowMs - this.newest.askedAtMs < FRESH_MS) return this.newest.checkpoint;
    const asked = { askedAtMs: nowMs, checkpoint: this.readCheckpoint() };
    this.newest = asked;
    asked.checkpoint.catch(() => {
      if (this.newest === asked) this.newest = undefined;
    });
    return asked.checkpoint;
  }

  private async readCheckpoint(): Promise<LogCheckpoint | null> {
    const checkpoint = await this.checkpoints.newest();
    if (checkpoint !== null) this.origin = checkpoint.origin;
    return checkpoint;
  }

  /** Returns the published checkpoint. Throws `not_logged_yet` before the first one. */
  async requireCheckpoint(): Promise<LogCheckpoint> {
    const checkpoint = await this.checkpoint();
    if (checkpoint === null) throw notLoggedYet('The log has no published checkpoint yet. Try again shortly.');
    return checkpoint;
  }

  /** Returns the checkpoint of a published size, or null if its note is no longer stored. */
  checkpointOf(size: number): Promise<LogCheckpoint | null> {
    return this.checkpoints.ofSize(size);
  }

  /** Returns every key that ever signed, and every announced key. */
  keys(): Promise<LogKey[]> {
    return this.checkpoints.keys();
  }

  /** Returns the policy that names the witnesses of checkpoints (C2SP tlog-policy), or null without witnesses. */
  policy(): Promise<string | null> {
    return this.checkpoints.policy();
  }

  /** Returns the hashes of a tile, 32 bytes each. Returns null if the tree has no such tile, or only a narrower one. */
  async tile(tile: Tile): Promise<LogFileContent | null> {
    const checkpoint = await this.checkpoint();
    const width = hashesAtTileLevel(checkpoint?.size ?? 0, tile.level) - tile.index * TILE_WIDTH;
    if (tile.width > width) {
      const bytes = await this.tiles.find(tile);
      return bytes === null ? null : { bytes, isPublished: false };
    }
    const [{ bytes } = unreadable()] = await this.load([tile]);
    return { bytes, isPublished: true };
  }

  /** Returns the proof that the entry is at `index` in the tree of this size, from the leaf's sibling upwards. */
  inclusion(index: number, size: number): Promise<Uint8Array[]> {
    return readInclusionProof(index, size, this.reader(size));
  }

  /**
   * Returns the inclusion proofs of the entries at `indexes` in the tree of this size, each as the JSON text of an
   * array of base64. Many proofs are computed in a thread.
   */
  async inclusions(asker: Asker, indexes: readonly number[], size: number): Promise<string[]> {
    const tiles = inclusionTiles(indexes, size);
    const loaded = await this.load(tiles);
    const read = tiles.map(({ level, index }, place) => {
      const { bytes } = loaded[place] ?? unreadable();
      return { level, index, hashes: bytes };
    });
    return asker.measured(() => this.work.run(asker, 'prove_inclusions', { indexes, size, tiles: read }));
  }

  /** Returns the leaf hash of the entry at `index`. It is all that remains of an entry whose salt is destroyed. */
  async leaf(index: number, size: number): Promise<Uint8Array> {
    const [leaf = unreadable()] = await this.reader(size)([{ level: 0, index }]);
    return leaf;
  }

  /** Returns the proof that the tree of `to` entries begins with the tree of `from` entries. */
  consistency(from: number, to: number): Promise<Uint8Array[]> {
    return readConsistencyProof(from, to, this.reader(to));
  }

  private reader(size: number) {
    return tileHashReader(size, async (tiles) => (await this.load(tiles)).map(({ hashes }) => hashes));
  }

  private async load(tiles: readonly Tile[]): Promise<CachedTile[]> {
    const { origin } = this;
    const names = tiles.map(({ level, index, width }) => `${level}/${index}/${width} ${origin}`);
    const known = names.map((name) => this.recall(name));
    const missing = tiles.flatMap((tile, place) =>
      known[place] === undefined ? [{ tile, name: names[place] ?? unreadable() }] : [],
    );
    const read = (await this.tiles.read(missing.map(({ tile }) => tile))).map((bytes, place) => {
      const { tile, name } = missing[place] ?? unreadable();
      return this.keep(name, tile, bytes);
    });
    return known.map((tile) => tile ?? read.shift() ?? unreadable());
  }

  private recall(name: string): CachedTile | undefined {
    const cached = this.cache.get(name);
    if (cached !== undefined) {
      this.cache.delete(name);
      this.cache.set(name, cached);
    }
    return cached;
  }

  private keep(name: string, { width }: Tile, bytes: Buffer): CachedTile {
    const made = { bytes, hashes: new TileHashes(bytes) };
    if (made.hashes.width !== width) return made;
    this.cache.set(name, made);
    for (const oldest of this.cache.keys()) {
      if (this.cache.size <= MAX_TILES) break;
      this.cache.delete(oldest);
    }
    return made;
  }
}

function unreadable(): never {
  throw new Error('fewer tiles were read than requested');
}

/** Creates the error for a fact that is committed but not in the published tree yet. */
export function notLoggedYet(message: string): DomainError {
  return new DomainError('not_logged_yet', `${message} Try again after Retry-After seconds, or send wait=10.`);
}
