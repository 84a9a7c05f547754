import { join } from 'node:path';
import { partsOf } from '@iss/platform';
import { ThreadPool } from '../thread-pool';
import { type PackOrder, type PackReport, runPackOrder, type SealedText, type TextToSeal } from './pack-work';

/** The compiled file that a thread runs. The path is correct from `src` and from `dist`. */
const THREAD_FILE = join(__dirname, '../../dist/archive/pack-thread.js');

/** The size of an order, in characters or sealed bytes. */
const ORDER = 262_144;
/** An order of this size is done at once: it takes some milliseconds. */
const FEW = 32_768;

/** Seals and verifies the texts of packs on all cores. */
export class PackThreads {
  private readonly threads = new ThreadPool<PackOrder, PackReport>(THREAD_FILE, 'packs');

  /** Compresses and encrypts texts. Returns null for a text that lacks its hash. */
  async seal(texts: readonly TextToSeal[]): Promise<(Buffer | null)[]> {
    const lengthOf = ({ text }: TextToSeal): number => text.length;
    const orders = partsOf(texts, lengthOf, ORDER).map((part) =>
      this.run(
        { work: 'seal', texts: part },
        part.reduce((sum, text) => sum + lengthOf(text), 0),
      ),
    );
    return (await Promise.all(orders)).flat();
  }

  /** Opens the texts of a pack, which are in their order in it, and returns their hashes. Returns null for a damaged one. */
  async hashesOf(pack: Buffer, texts: readonly SealedText[]): Promise<(Buffer | null)[]> {
    const orders = partsOf(texts, ({ length }) => length, ORDER).map((part) => {
      const [start, last] = [part[0]?.offset ?? 0, part.at(-1)];
      // The bytes are copied, because a thread that gets a part of a buffer gets the whole buffer.
      const bytes = new Uint8Array(pack.subarray(start, last && last.offset + last.length));
      const moved = part.map(({ offset, length, secret }) => ({ offset: offset - start, length, secret }));
      return this.run({ work: 'verify', bytes, texts: moved }, bytes.length);
    });
    return (await Promise.all(orders)).flat();
  }

  /** Ends the threads. */
  close(): Promise<void> {
    return this.threads.close();
  }

  private async run(order: PackOrder, size: number): Promise<(Buffer | null)[]> {
    const { bytes, lengths } = size <= FEW ? runPackOrder(order) : await this.threads.run(order);
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let end = 0;
    return lengths.map((length) => {
      end += length;
      return length === 0 ? null : all.subarray(end - length, end);
    });
  }
}
