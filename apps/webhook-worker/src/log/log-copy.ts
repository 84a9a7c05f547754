import { randomUUID } from 'node:crypto';
import { type ObjectHeaders, ObjectMissing, type ObjectStore, openStore } from '@iss/archive';
import { logKeys } from '@iss/map';
import {
  type CopyProgress,
  type LogCheckpoint,
  LogCheckpointStore,
  LogCopyStore,
  LogTileStore,
  MapReadStore,
  type MapState,
  PublicEntryStore,
} from '@iss/persistence';
import { LOGGER, type Logger, within } from '@iss/platform';
import {
  type Checkpoint,
  equalBytes,
  type EntryBundle,
  formatEntryBundle,
  formatEntryBundlePath,
  formatTilePath,
  hashesAtTileLevel,
  leafHash,
  parseCheckpoint,
  parseEntryBundlePath,
  parseNote,
  parseTilePath,
  readRoot,
  type Tile,
  TILE_WIDTH,
  TileHashes,
  tileHashReader,
} from '@iss/tlog';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { addJitter, Rounds } from '../rounds';
import { SETTINGS, type WorkerSettings } from '../settings';
import { LogMetrics } from './log-metrics';

/** Each checkpoint needs about five objects, so not every one is copied. */
const PAUSE_MS = 10_000;
/** Bundles that are copied between two records of the progress. */
const BUNDLES = 64;
/** Objects that are written at the same time. */
const AT_ONCE = 16;
const ANSWER_MS = 30_000;
const MAX_NOTE_BYTES = 65_536;

/** Injection token of a function that opens a store. */
const OPEN_STORE = Symbol('OPEN_STORE');

const CHECKPOINT = 'checkpoint';
const KEYS = 'keys';
const IMMUTABLE = 'public, max-age=31536000, immutable';
const SHORT = 'public, max-age=5';
const FILE: ObjectHeaders = { contentType: 'application/octet-stream', cacheControl: IMMUTABLE };

/** Nothing is copied, because the store has another log than the database. */
class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
}

/**
 * Copies the public files of the log to object storage (`LOG_PUBLISH_URL`): full tiles, the partial ones of the copied checkpoint, entry
 * bundles, `keys`, and last the checkpoint. So everything that the checkpoint in the store covers is there, at every moment. The
 * checkpoint there never goes back.
 */
@Injectable()
export class LogCopy {
  private readonly rounds: Rounds;
  private readonly lease = randomUUID();
  private store: ObjectStore | null = null;
  private isRefused = false;

  constructor(
    private readonly checkpoints: LogCheckpointStore,
    private readonly tiles: LogTileStore,
    private readonly entries: PublicEntryStore,
    private readonly map: MapReadStore,
    private readonly progress: LogCopyStore,
    private readonly metrics: LogMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'logPublishUrl'>,
    @Optional() @Inject(OPEN_STORE) private readonly open: typeof openStore = openStore,
  ) {
    this.rounds = new Rounds({
      work: () => this.copy(),
      pauseMs: addJitter(PAUSE_MS),
      failure: 'The log could not be copied to LOG_PUBLISH_URL; retrying',
      logger,
    });
  }

  /** Does nothing without `LOG_PUBLISH_URL`. */
  start(): void {
    if (this.settings.logPublishUrl !== undefined) this.rounds.start();
  }

  /** Resolves when the current files are copied. */
  async stop(): Promise<void> {
    await this.rounds.stop();
    if (this.store === null) return;
    this.store.close();
    await this.progress.release(this.lease).catch(() => undefined);
  }

  /** Copies what the store lacks of the newest checkpoint, unless another worker does so. */
  async copy(): Promise<void> {
    const { logPublishUrl: url } = this.settings;
    const newest = await this.checkpoints.newest();
    if (url === undefined || newest === null) return;
    const progress = await this.progress.claim(this.lease, url);
    if (progress === null) return;
    this.store ??= await this.open(url);
    try {
      await this.copyTo(this.store, newest, progress);
      this.noteRefusal(null);
    } catch (error) {
      if (!(error instanceof CopyRefused)) throw error;
      this.noteRefusal(error);
    }
  }

  private async copyTo(store: ObjectStore, newest: LogCheckpoint, progress: CopyProgress): Promise<void> {
    const note = await readNote(store);
    if (note === newest.note) return;
    const shown = note === null ? null : await this.requireContinued(note, newest);
    const shownSize = shown?.size ?? 0;
    // Without its checkpoint, the store was emptied.
    const isLost = shown === null && progress.size !== null;
    const from = Math.max(isLost ? 0 : progress.copiedTo, Math.floor(shownSize / TILE_WIDTH) * TILE_WIDTH);
    const map = await this.map.state();
    const isDone = await this.copyFull(store, newest.size, from, map);
    if (!isDone) return;
    const partial = [...partialTiles(newest.size)];
    const bundle = partial.find(({ level }) => level === 0);
    const paths = partial.map(formatTilePath);
    if (bundle !== undefined && isPublic(bundle, map)) paths.push(formatEntryBundlePath(bundle));
    const known = isLost ? [] : progress.partialPaths;
    const all = [...new Set([...known, ...paths])];
    if (!(await this.progress.notePartials(this.lease, all))) return;
    await this.copyFiles(store, partial, map);
    const [vkeys, policy] = await Promise.all([this.checkpoints.keys(), this.checkpoints.policy()]);
    const keys = logKeys(newest.origin, vkeys, policy, map);
    await this.put(store, KEYS, Buffer.from(JSON.stringify(keys)), {
      contentType: 'application/json',
      cacheControl: SHORT,
    });
    // The log may have been restarted meanwhile, with other tiles. Another worker copies if the lease has ended.
    if ((await this.checkpoints.newest())?.origin !== newest.origin) return;
    if (!(await this.progress.advance(this.lease, Math.floor(newest.size / TILE_WIDTH) * TILE_WIDTH))) return;
    await this.put(store, CHECKPOINT, Buffer.from(newest.note), {
      contentType: 'text/plain; charset=utf-8',
      cacheControl: SHORT,
    });
    await this.progress.show(this.lease, newest.size, newest.signedAt);
    // Readers of the checkpoint before this one still need its partial files.
    const obsolete = all.filter((path) => isFullAt(path, shownSize));
    await atOnce(obsolete, (path) => this.limit(store.remove(path, AbortSignal.timeout(ANSWER_MS))));
    if (obsolete.length > 0) {
      await this.progress.notePartials(
        this.lease,
        all.filter((path) => !obsolete.includes(path)),
      );
    }
  }

  /** Throws {@link CopyRefused} unless the newest checkpoint continues the one in the store. */
  private async requireContinued(note: string, { origin, size }: LogCheckpoint): Promise<Checkpoint> {
    const shown = checkpointOf(note);
    if (shown === null) throw new CopyRefused('LOG_PUBLISH_URL has a file checkpoint that is not one');
    if (shown.origin !== origin)
      throw new CopyRefused(
        `LOG_PUBLISH_URL has the log ${shown.origin}. Set another folder or prefix for the log ${origin}`,
      );
    if (shown.size > size)
      throw new CopyRefused(`LOG_PUBLISH_URL has ${shown.size} entries, but the newest checkpoint has only ${size}`);
    const root = await readRoot(
      shown.size,
      tileHashReader(shown.size, async (tiles) =>
        (await this.tiles.read(tiles)).map((hashes) => new TileHashes(hashes)),
      ),
    );
    if (!equalBytes(root, shown.root))
      throw new CopyRefused(`The first ${shown.size} entries in LOG_PUBLISH_URL are not those of the database`);
    return shown;
  }

  /** Copies the full files of the entries after `from`. Returns false if this worker stops or its lease has ended. */
  private async copyFull(store: ObjectStore, size: number, from: number, map: MapState | null): Promise<boolean> {
    const end = Math.floor(size / TILE_WIDTH) * TILE_WIDTH;
    for (let at = from; at < end;) {
      if (this.rounds.isStopping) return false;
      const to = Math.min(end, at + BUNDLES * TILE_WIDTH);
      await this.copyFiles(store, [...fullTiles(at, to)], map);
      if (!(await this.progress.advance(this.lease, to))) return false;
      at = to;
    }
    return true;
  }

  /** Copies tiles, and the bundle of entries of each tile of level 0. */
  private async copyFiles(store: ObjectStore, tiles: readonly Tile[], map: MapState | null): Promise<void> {
    const hashes = await this.tiles.read(tiles);
    await atOnce([...tiles.entries()], async ([place, tile]) => {
      const bytes = hashes[place];
      if (bytes?.length !== tile.width * 32) throw new Error(`the log has no whole ${formatTilePath(tile)}`);
      await this.put(store, formatTilePath(tile), bytes, FILE);
      if (tile.level > 0 || !isPublic(tile, map)) return;
      await this.put(store, formatEntryBundlePath(tile), await this.bundleOf(tile, new TileHashes(bytes)), FILE);
    });
  }

  /** Makes a bundle of public texts. Throws unless each has its hash in the tile. */
  private async bundleOf({ index, width }: EntryBundle, hashes: TileHashes): Promise<Buffer> {
    const from = index * TILE_WIDTH;
    const texts = [...(await this.entries.leafTexts(from, from + width))];
    const wrong = texts.findIndex((text, place) => !equalBytes(leafHash(text), hashes.node(0, place)));
    if (wrong >= 0 || texts.length !== width)
      throw new Error(`the leaf of log entry ${from + Math.max(wrong, 0)} is not the one in the tree`);
    return Buffer.from(formatEntryBundle(texts.map((text) => Buffer.from(text))));
  }

  private async put(store: ObjectStore, name: string, bytes: Buffer, headers: ObjectHeaders): Promise<void> {
    await this.limit(store.put(name, bytes, AbortSignal.timeout(ANSWER_MS), headers));
  }

  private limit<T>(work: Promise<T>): Promise<T> {
    return within(ANSWER_MS, work, 'LOG_PUBLISH_URL');
  }

  private noteRefusal(error: CopyRefused | null): void {
    if (error !== null && !this.isRefused) this.logger.error({ err: error }, 'The log is not copied any more');
    this.isRefused = error !== null;
    this.metrics.copyRefused(this.isRefused);
  }
}

async function readNote(store: ObjectStore): Promise<string | null> {
  try {
    const read = store.read(CHECKPOINT, 0, MAX_NOTE_BYTES, AbortSignal.timeout(ANSWER_MS));
    return (await within(ANSWER_MS, read, 'LOG_PUBLISH_URL')).toString('utf8');
  } catch (error) {
    if (error instanceof ObjectMissing) return null;
    throw error;
  }
}

function checkpointOf(note: string): Checkpoint | null {
  try {
    return parseCheckpoint(parseNote(note).text);
  } catch {
    return null;
  }
}

/** Entries are public from the start of the map on. */
function isPublic({ index }: EntryBundle, map: MapState | null): boolean {
  return map !== null && index * TILE_WIDTH >= map.startsAt;
}

/** Yields the tiles, at all levels, that become full as the tree grows. */
function* fullTiles(oldSize: number, newSize: number): Generator<Tile> {
  for (let level = 0; hashesAtTileLevel(newSize, level) >= TILE_WIDTH; level++) {
    const end = hashesAtTileLevel(newSize, level + 1);
    for (let index = hashesAtTileLevel(oldSize, level + 1); index < end; index++) {
      yield { level, index, width: TILE_WIDTH };
    }
  }
}

/** Yields the incomplete tiles of a tree. */
function* partialTiles(size: number): Generator<Tile> {
  for (let level = 0; hashesAtTileLevel(size, level) > 0; level++) {
    const hashes = hashesAtTileLevel(size, level);
    const width = hashes % TILE_WIDTH;
    if (width > 0) yield { level, index: (hashes - width) / TILE_WIDTH, width };
  }
}

/** Returns whether the tile of a partial file is full in a tree of this size. */
function isFullAt(path: string, size: number): boolean {
  const { level, index } = path.startsWith('tile/entries/')
    ? { level: 0, ...parseEntryBundlePath(path) }
    : parseTilePath(path);
  return index < hashesAtTileLevel(size, level + 1);
}

async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const workAll = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, workAll));
}
