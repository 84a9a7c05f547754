import { setImmediate } from 'node:timers/promises';
import { DomainError } from '@iss/domain';
import { MapReadStore, type MapState, PublicEntryStore } from '@iss/persistence';
import { RecentMap } from '@iss/platform';
import { type EntryBundle, equalBytes, formatEntryBundle, leafHash, TILE_WIDTH, TileHashes } from '@iss/tlog';
import { Inject, Injectable } from '@nestjs/common';
import { type LogFileContent, LogTreeService } from '../../log/log-tree.service';

/** A whole bundle has about 50 KiB. The cache holds at most twice as many bytes. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** Bundles that wait for their turn. */
const MAX_WAITING = 64;
/**
 * The number of leaves that are made before other work of the process gets its turn. They take about half a
 * millisecond.
 */
const TURN = 16;

/** The first entries of a bundle. They never change. */
interface Made {
  readonly bytes: Buffer;
  /** The length of the bundle after each of its entries. */
  readonly ends: readonly number[];
}

/** The reason why the log has no such bundle. */
export interface NoBundle {
  readonly refusal: string;
}

const NOTHING: Made = { bytes: Buffer.alloc(0), ends: [] };
const NO_SUCH_BUNDLE: NoBundle = {
  refusal: 'The log has no such bundle. Check its number against the size in the checkpoint.',
};
const AT_LOG_PROOF = 'If you may read a fact, get its entry at …/log-proof.';

/**
 * Makes bundles of the public texts of entries (C2SP tlog-tiles). Each entry is read once while it is cached, one bundle at a time,
 * because anybody may ask for any bundle.
 */
@Injectable()
export class EntryBundles {
  private readonly cache = new RecentMap<string, Made>(CACHE_BYTES, ({ bytes }) => bytes.length);
  private readonly making = new Map<string, Promise<Made>>();
  private turn: Promise<unknown> = Promise.resolve();
  private map: MapState | null = null;

  constructor(
    @Inject(LogTreeService) private readonly tree: Pick<LogTreeService, 'checkpoint' | 'tile'>,
    @Inject(MapReadStore) private readonly mapState: Pick<MapReadStore, 'state'>,
    @Inject(PublicEntryStore) private readonly entries: Pick<PublicEntryStore, 'leafTexts'>,
  ) {}

  /** Returns a bundle. Throws `unavailable` if too many others wait, and an error if the bundle does not match the tree. */
  async read(bundle: EntryBundle): Promise<LogFileContent | NoBundle> {
    const { index, width } = bundle;
    const checkpoint = await this.tree.checkpoint();
    const map = await this.mapOf(checkpoint?.origin);
    if (map === null) return { refusal: `Entries are not public. ${AT_LOG_PROOF}` };
    const { startsAt } = map;
    if (index * TILE_WIDTH < startsAt) {
      const first = startsAt / TILE_WIDTH;
      return {
        refusal: `Entries are public from bundle ${first} on, which begins at log index ${startsAt}. ${AT_LOG_PROOF}`,
      };
    }
    const published = Math.min(TILE_WIDTH, (checkpoint?.size ?? 0) - index * TILE_WIDTH);
    if (width > published) return this.unpublished(bundle);
    const name = `${index} ${checkpoint?.origin}`;
    const known = this.cache.get(name);
    const isKnown = known !== undefined && known.ends.length >= width;
    const made = isKnown ? known : await this.inTurn(`${published} ${name}`, () => this.make(name, index, published));
    return { bytes: made.bytes.subarray(0, made.ends[width - 1]), isPublished: true };
  }

  /** Returns the map of the log of this name, or null. Its key and its start never change in one log. */
  async mapOf(origin: string | undefined): Promise<MapState | null> {
    if (this.map === null || (origin !== undefined && this.map.origin !== origin))
      this.map = await this.mapState.state();
    return this.map !== null && this.map.origin === (origin ?? this.map.origin) ? this.map : null;
  }

  /** Makes a bundle for a witness, which audits it before its checkpoint is published. It may change, so it is not kept. */
  private async unpublished({ index, width }: EntryBundle): Promise<LogFileContent | NoBundle> {
    if ((await this.tree.tile({ level: 0, index, width })) === null) return NO_SUCH_BUNDLE;
    const made = await this.inTurn(`${width} ${index}`, () => this.extended(NOTHING, index, width));
    return { bytes: made.bytes, isPublished: false };
  }

  /** Queues work under a name, or joins the work of this name that already waits or runs. */
  private inTurn(name: string, work: () => Promise<Made>): Promise<Made> {
    const existing = this.making.get(name);
    if (existing !== undefined) return existing;
    if (this.making.size >= MAX_WAITING) {
      throw new DomainError('unavailable', 'Too many bundles of entries are being made. Try again after Retry-After.');
    }
    const made = this.turn.then(work);
    this.making.set(name, made);
    this.turn = made.catch(() => undefined).finally(() => this.making.delete(name));
    return made;
  }

  /** Makes a published bundle from the part of it in the cache. */
  private async make(name: string, index: number, width: number): Promise<Made> {
    const known = this.cache.get(name);
    if (known !== undefined && known.ends.length >= width) return known;
    const longer = await this.extended(known ?? NOTHING, index, width);
    this.cache.set(name, longer);
    return longer;
  }

  private async extended({ bytes, ends }: Made, index: number, width: number): Promise<Made> {
    const from = index * TILE_WIDTH + ends.length;
    const tile = await this.tree.tile({ level: 0, index, width });
    if (tile === null) throw new Error(`the log has no tile 0/${index} of ${width} hashes`);
    const hashes = new TileHashes(tile.bytes);
    const leaves: Uint8Array[] = [];
    const allEnds = [...ends];
    for (const text of await this.entries.leafTexts(from, index * TILE_WIDTH + width)) {
      if (!equalBytes(leafHash(text), hashes.node(0, allEnds.length))) {
        throw new Error(`the leaf of log entry ${index * TILE_WIDTH + allEnds.length} is not the one in the tree`);
      }
      const leaf = formatEntryBundle([Buffer.from(text)]);
      leaves.push(leaf);
      allEnds.push((allEnds.at(-1) ?? 0) + leaf.length);
      if (leaves.length % TURN === 0) await setImmediate();
    }
    if (allEnds.length !== width) throw new Error(`the log has ${leaves.length} entries from ${from} on`);
    return { bytes: Buffer.concat([bytes, ...leaves]), ends: allEnds };
  }
}
