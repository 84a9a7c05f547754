import { hashText } from '@iss/domain';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import { ErasedError } from '../../access/erased';
import type { JsonText } from '../answer/json-text';

/** Up to 16 MiB: a character takes one byte, or two where any of the text is beyond Latin-1. */
const KEPT_CHARACTERS = 4 * 1024 * 1024;

/**
 * Answers with stored text in them, as they were given last. Giving one again takes only the caller's right to it from the
 * database, and whether what is found there still has the hash: what has one hash has one content.
 */
@Injectable()
export class RecentAnswers {
  private readonly kept = new RecentMap<string, Kept>(KEPT_CHARACTERS, ({ answer }) => answer.text.length);

  /** The answer to what `key` names. `read` gives null when what it finds has the hash that it is given. */
  async answer<Found>(
    key: string,
    read: (knownHash: Buffer | undefined) => Promise<Found | null>,
    answerOf: (found: Found) => JsonText,
  ): Promise<JsonText> {
    const kept = this.kept.get(key);
    const found = await this.readOr(key, () => read(kept?.provenHash()));
    if (found !== null) return this.keep(key, answerOf(found));
    if (kept === undefined) throw new Error(`${key} was said to be known, and is not`);
    return kept.answer;
  }

  /** What was erased is not kept here either. */
  private async readOr<Found>(key: string, read: () => Promise<Found>): Promise<Found> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof ErasedError) this.kept.delete(key);
      throw error;
    }
  }

  /** Keeps what will be answered so again: that, its caller may reuse as well. */
  private keep(key: string, answer: JsonText): JsonText {
    if (answer.caching !== undefined && answer.holdsStored) this.kept.set(key, new Kept(answer));
    return answer;
  }
}

class Kept {
  private proven: Buffer | null | undefined;

  constructor(readonly answer: JsonText) {}

  /**
   * The hash of the stored text; undefined where the text has another, having been tampered with. Found out when it is
   * asked for: many answers are never asked for again.
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
