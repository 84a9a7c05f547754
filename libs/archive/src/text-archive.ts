import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '@iss/domain';
import { partsOf, within } from '@iss/platform';
import { type Block, BLOCK_BYTES, BlockCache } from './block-cache';
import { openText, openTexts, type SealedText } from './pack';
import type { PackedText } from './packed-text';
import { type Range, rangesOf } from './ranges';
import { ObjectMissing, type ObjectStore } from './store/object-store';
import { openStore } from './store/open-store';
import { TextCache } from './text-cache';

/**
 * How an archived text was obtained: from the cache, from the store, or from the second store because the first one failed. Otherwise
 * `damaged`: no store has the bytes that were written, or `unavailable`: no store answered.
 */
export const ARCHIVE_OUTCOMES = ['cached', 'answered', 'mirrored', 'damaged', 'unavailable'] as const;
export type ArchiveOutcome = (typeof ARCHIVE_OUTCOMES)[number];

/** No store of the archive answers. Texts in the database can still be read. */
export class ArchiveUnavailable extends DomainError {
  constructor(cause?: unknown) {
    super(
      'archive_unavailable',
      'This version is in the archive, which does not answer. Try again shortly. The latest version is not affected.',
      undefined,
      { cause },
    );
  }
}

/** The time to write or to read back one pack. */
const PACK_MS = 60_000;
/** The time for all texts of one read, which is shorter than the time limit of a statement. */
const ANSWER_MS = 5_000;
/** After a failure, other reads fail at once for this time, so that they do not pile up. */
const PAUSE_MS = 1_000;
/** The caches of texts and of blocks. */
const CACHE_BYTES = 16 << 20;
/** Ranges of at least so many bytes are read in blocks, because exports and proofs continue with the next range of the pack. */
const STEP_BYTES = 32 * 1024;
/** Ranges that one read requests at once. */
const AT_ONCE = 4;
/** Sealed bytes that are opened before other work gets its turn. They take some milliseconds. */
const TURN_BYTES = 256 * 1024;

/** The time for all texts of one read, and the signal at its end. */
interface Deadline {
  answerMs: number;
  signal: AbortSignal;
}

/** A place with its sealed bytes. */
interface SealedPlace extends SealedText {
  text: PackedText;
}

export const nameOfObject = (object: string): string => `packs/${object}`;

/** The stores of an archive. */
export interface ArchiveSettings {
  url: string;
  mirrorUrl: string | undefined;
}

/** Opens the stores of these URLs. Returns null without settings. */
export async function openArchive(settings: ArchiveSettings): Promise<TextArchive>;
export async function openArchive(settings: ArchiveSettings | null): Promise<TextArchive | null>;
export async function openArchive(settings: ArchiveSettings | null): Promise<TextArchive | null> {
  if (settings === null) return null;
  const { url, mirrorUrl } = settings;
  return new TextArchive(await openStore(url), mirrorUrl === undefined ? null : await openStore(mirrorUrl));
}

/** Writes packs to a store and to an optional second one, and reads texts from either. */
export class TextArchive {
  readonly outcomes: Record<ArchiveOutcome, number> = {
    cached: 0,
    answered: 0,
    mirrored: 0,
    damaged: 0,
    unavailable: 0,
  };
  private readonly cache = new TextCache(CACHE_BYTES);
  private readonly blocks = new BlockCache(CACHE_BYTES / BLOCK_BYTES, (object, offset) => {
    const deadline = { answerMs: ANSWER_MS, signal: AbortSignal.timeout(ANSWER_MS) };
    return this.bytesOf({ object, offset, length: BLOCK_BYTES }, deadline);
  });
  private readonly failedAtMs = new Map<ObjectStore, number>();

  constructor(
    private readonly store: ObjectStore,
    private readonly mirror: ObjectStore | null,
  ) {}

  /** Returns the texts in their order, null for a damaged one. Throws {@link ArchiveUnavailable} after `answerMs`. */
  async read(texts: readonly PackedText[], answerMs = ANSWER_MS): Promise<(string | null)[]> {
    const deadline = { answerMs, signal: AbortSignal.timeout(answerMs) };
    const opened = new Map<PackedText, string | null>();
    const cached: SealedPlace[] = [];
    for (const text of texts) {
      const sealed = this.cache.get(keyOf(text));
      if (sealed !== undefined) cached.push({ text, sealed, secret: text.secret });
    }
    for (const [{ text }, found] of openTexts(cached)) if (found !== null) opened.set(text, found);
    this.count('cached', opened.size);
    const ranges = rangesOf(texts.filter((text) => !opened.has(text))).values();
    const readRanges = async (): Promise<void> => {
      for (const range of ranges) for (const [text, found] of await this.open(range, deadline)) opened.set(text, found);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, readRanges));
    return texts.map((text) => opened.get(text) ?? null);
  }

  /** Rejects if the store does not answer. */
  async ping(): Promise<void> {
    await within(ANSWER_MS, this.store.ping(AbortSignal.timeout(ANSWER_MS)), 'The archive');
  }

  /** Stores a pack in all stores. */
  async put(object: string, pack: Buffer): Promise<void> {
    await this.inEach((store, signal) => store.put(nameOfObject(object), pack, signal));
  }

  /** Reads a whole pack from each store. */
  readBack(object: string, bytes: number): Promise<Buffer[]> {
    return this.inEach((store, signal) => store.read(nameOfObject(object), 0, bytes, signal));
  }

  /** Copies a pack to an archive that lacks it, and reads the copy back. Throws {@link ObjectMissing} if no store has the whole pack. */
  async copy(object: string, bytes: number, to: TextArchive): Promise<'copied' | 'present'> {
    if ((await to.whole(object, bytes)) !== null) return 'present';
    const pack = await this.whole(object, bytes);
    if (pack === null) throw new ObjectMissing(nameOfObject(object));
    await to.put(object, pack);
    if (!(await to.whole(object, bytes))?.equals(pack))
      throw new Error(`The other store returned other bytes for ${object}`);
    return 'copied';
  }

  /** Returns a pack from the first store that has all its bytes. Null if none has them. */
  private async whole(object: string, bytes: number): Promise<Buffer | null> {
    for (const store of this.stores) {
      const signal = AbortSignal.timeout(PACK_MS);
      const read = store.read(nameOfObject(object), 0, bytes, signal).catch((error: unknown) => {
        if (error instanceof ObjectMissing) return null;
        throw error;
      });
      const pack = await within(PACK_MS, read, 'The archive');
      if (pack?.length === bytes) return pack;
    }
    return null;
  }

  /** Deletes a pack from all stores. */
  async remove(object: string): Promise<void> {
    await this.inEach((store, signal) => store.remove(nameOfObject(object), signal));
  }

  close(): void {
    for (const store of this.stores) store.close();
  }

  private get stores(): ObjectStore[] {
    return this.mirror === null ? [this.store] : [this.store, this.mirror];
  }

  private async inEach<T>(work: (store: ObjectStore, signal: AbortSignal) => Promise<T>): Promise<T[]> {
    const signal = AbortSignal.timeout(PACK_MS);
    return Promise.all(this.stores.map((store) => within(PACK_MS, work(store, signal), 'The archive')));
  }

  private async open(range: Range, deadline: Deadline): Promise<Map<PackedText, string | null>> {
    const isStep = range.length >= STEP_BYTES && range.length < BLOCK_BYTES;
    const { bytes, isMirrored, isKnown } = await this.orCount(
      range,
      isStep ? this.inBlocks(range) : this.bytesOf(range, deadline).then((block) => ({ ...block, isKnown: false })),
    );
    const opened = new Map<PackedText, string | null>();
    for (const texts of partsOf(range.texts, ({ length }) => length, TURN_BYTES)) {
      if (opened.size > 0) await nextTurn();
      const sealedTexts = texts.map((text) => ({
        text,
        sealed: bytes.subarray(text.offset - range.offset, text.offset - range.offset + text.length),
        secret: text.secret,
      }));
      for (const [{ text, sealed }, found] of openTexts(sealedTexts)) {
        opened.set(text, found ?? (await this.second(text, isMirrored, deadline)));
        if (found === null) continue;
        if (!isStep) this.cache.set(keyOf(text), sealed);
        this.count(isKnown ? 'cached' : isMirrored ? 'mirrored' : 'answered');
      }
    }
    return opened;
  }

  /** Reads a range from its blocks. */
  private async inBlocks(range: Range): Promise<Block & { isKnown: boolean }> {
    const { object, offset, length } = range;
    const blocks = await Promise.all(blocksOf(range).map((place) => this.blocks.get(object, place)));
    let start = offset % BLOCK_BYTES;
    // A block that ends early is the last one of its object.
    const parts = blocks.map(([block]) => {
      const part = block.bytes.subarray(start, start + length);
      start = 0;
      return part;
    });
    const [first = Buffer.alloc(0)] = parts;
    const bytes = parts.length === 1 ? first : Buffer.concat(parts).subarray(0, length);
    return {
      bytes,
      isMirrored: blocks.some(([{ isMirrored }]) => isMirrored),
      isKnown: blocks.every(([, isKnown]) => isKnown),
    };
  }

  /** Counts the texts of a range that no store answers. */
  private async orCount<T>({ texts }: Range, bytes: Promise<T>): Promise<T> {
    try {
      return await bytes;
    } catch (error) {
      this.count('unavailable', texts.length);
      throw error;
    }
  }

  /** Reads a text whose bytes are damaged from the other store. Returns null if no store has it undamaged. */
  private async second(text: PackedText, wasMirrored: boolean, deadline: Deadline): Promise<string | null> {
    for (const offset of blocksOf(text)) this.blocks.forget(text.object, offset);
    const other = wasMirrored ? null : this.mirror;
    const sealed = other === null ? null : await this.ask(other, text, deadline).catch(() => null);
    const found = sealed === null ? null : openText(sealed, text.secret);
    this.count(found === null ? 'damaged' : 'mirrored');
    return found;
  }

  /** Returns no bytes if all stores answer that they lack the object. Throws {@link ArchiveUnavailable}. */
  private async bytesOf(range: Omit<Range, 'texts'>, deadline: Deadline): Promise<Block> {
    const failures: unknown[] = [];
    for (const store of this.stores) {
      try {
        return { bytes: await this.ask(store, range, deadline), isMirrored: failures.length > 0 };
      } catch (error) {
        failures.push(error);
      }
    }
    if (!failures.every((failure) => failure instanceof ObjectMissing)) throw new ArchiveUnavailable(failures[0]);
    return { bytes: Buffer.alloc(0), isMirrored: true };
  }

  private async ask(
    store: ObjectStore,
    { object, offset, length }: Omit<Range, 'texts'>,
    { answerMs, signal }: Deadline,
  ): Promise<Buffer> {
    if (performance.now() - (this.failedAtMs.get(store) ?? -Infinity) < PAUSE_MS) {
      throw new Error('The archive failed a moment ago');
    }
    try {
      // The first store gets half of the time, so that the second one has time if the first one hangs. A hanging file
      // system ignores the signal.
      const timeoutMs = answerMs / 2;
      const both = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      return await within(timeoutMs, store.read(nameOfObject(object), offset, length, both), 'The archive');
    } catch (error) {
      if (!(error instanceof ObjectMissing)) this.failedAtMs.set(store, performance.now());
      throw error;
    }
  }

  private count(outcome: ArchiveOutcome, times = 1): void {
    this.outcomes[outcome] += times;
  }
}

/** Returns where a part of an object begins, and where each further block of it begins. */
function blocksOf({ offset, length }: Pick<Range, 'offset' | 'length'>): number[] {
  const next = (Math.floor(offset / BLOCK_BYTES) + 1) * BLOCK_BYTES;
  const further = Math.ceil(Math.max(0, offset + length - next) / BLOCK_BYTES);
  return [offset, ...Array.from({ length: further }, (_, index) => next + index * BLOCK_BYTES)];
}

const keyOf = ({ object, offset }: PackedText): string => `${object}/${offset}`;
