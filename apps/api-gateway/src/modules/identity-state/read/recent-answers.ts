import { hashText } from '@iss/domain';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import { ErasedError } from '../../../access/erased';
import type { JsonText } from '../../../http/answer/json-text';

/** Up to 16 MiB: a character takes one byte, or two if the text has characters beyond Latin-1. */
const CACHE_CHARACTERS = 4 * 1024 * 1024;

/**
 * Remembers the last responses with stored text. To repeat one, the database only checks the caller's right, and
 * whether the hash is unchanged. Equal hashes mean equal content.
 */
@Injectable()
export class RecentAnswers {
  private readonly cache = new RecentMap<string, CachedAnswer>(CACHE_CHARACTERS, ({ answer }) => answer.text.length);

  /** Returns the response for `key`. `read` returns null if the hash of what it finds equals the given one. */
  async answer<Found>(
    key: string,
    read: (knownHash: Buffer | undefined) => Promise<Found | null>,
    answerOf: (found: Found) => JsonText,
  ): Promise<JsonText> {
    const cached = this.cache.get(key);
    const found = await this.readOr(key, () => read(cached?.provenHash()));
    if (found !== null) return this.keep(key, answerOf(found));
    if (cached === undefined) throw new Error(`${key} counts as known, but its response was not stored`);
    return cached.answer;
  }

  /** Forgets the response if its content was erased. */
  private async readOr<Found>(key: string, read: () => Promise<Found>): Promise<Found> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof ErasedError) this.cache.delete(key);
      throw error;
    }
  }

  /** Remembers responses that will be given again: those that their callers may cache too. */
  private keep(key: string, answer: JsonText): JsonText {
    if (answer.caching !== undefined && answer.holdsStored) this.cache.set(key, new CachedAnswer(answer));
    return answer;
  }
}

class CachedAnswer {
  private proven: Buffer | null | undefined;

  constructor(readonly answer: JsonText) {}

  /**
   * Returns the hash of the stored text, or undefined if the text does not match it (it was tampered with). Computed on
   * demand, because many responses are never requested again.
   */
  provenHash(): Buffer | undefined {
    if (this.proven === undefined) {
      const stored = this.answer.stored;
      this.proven =
        stored !== undefined && hashText(stored.text) === stored.hash ? Buffer.from(stored.hash, 'hex') : null;
    }
    return this.proven ?? undefined;
  }
}
