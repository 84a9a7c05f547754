/** A part of an object that was read as a whole. */
export interface Block {
  readonly bytes: Buffer;
  /** True if the first store failed, so the bytes are from the second one. */
  readonly isMirrored: boolean;
}

/** Blocks begin at multiples of this. */
export const BLOCK_BYTES = 1 << 20;

interface Entry {
  readonly block: Promise<Block>;
  /** The place that was needed last; null if the block was read ahead. */
  lastOffset: number | null;
}

/**
 * Reads objects in blocks, for readers that go through an object in small steps, up or down. Keeps the blocks that were read last, and
 * reads the next one ahead.
 */
export class BlockCache {
  /** By object and index, least recently used first. */
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly maxBlocks: number,
    private readonly readBlock: (object: string, offset: number) => Promise<Block>,
  ) {}

  /** Returns the block of a place that is needed, and whether it had been read before. */
  async get(object: string, offset: number): Promise<[block: Block, isKnown: boolean]> {
    const index = Math.floor(offset / BLOCK_BYTES);
    const isKnown = this.entries.has(nameOf(object, index));
    const entry = this.load(object, index);
    const isUp = entry.lastOffset === null ? this.wasNeeded(object, index - 1) : offset > entry.lastOffset;
    const isDown = entry.lastOffset === null ? this.wasNeeded(object, index + 1) : offset < entry.lastOffset;
    entry.lastOffset = offset;
    if (isUp) this.load(object, index + 1);
    if (isDown && index > 0) this.load(object, index - 1);
    return [await entry.block, isKnown];
  }

  /** Forgets the block of a place with damaged bytes, so that the next reader gets those that replaced them. */
  forget(object: string, offset: number): void {
    this.entries.delete(nameOf(object, Math.floor(offset / BLOCK_BYTES)));
  }

  private wasNeeded(object: string, index: number): boolean {
    return typeof this.entries.get(nameOf(object, index))?.lastOffset === 'number';
  }

  private load(object: string, index: number): Entry {
    const name = nameOf(object, index);
    const entry = this.entries.get(name) ?? { block: this.readBlock(object, index * BLOCK_BYTES), lastOffset: null };
    this.entries.delete(name);
    this.entries.set(name, entry);
    entry.block.catch(() => {
      if (this.entries.get(name) === entry) this.entries.delete(name);
    });
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.maxBlocks) break;
      this.entries.delete(oldest);
    }
    return entry;
  }
}

const nameOf = (object: string, index: number): string => `${object}/${index}`;
