import { DomainError, type ErrorCode } from '@iss/domain';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import type { KnownProof, LogProof } from '../../log/log-proof.service';
import type { JsonText } from '../../http/answer/json-text';

/** Up to 16 MiB, including what is known besides the response. */
const CACHE_CHARACTERS = 4 * 1024 * 1024;

/**
 * Remembers the last responses with log proofs of snapshots. To repeat one, the database only checks the caller's
 * right, and whether the entry's salt is unchanged. Equal salts mean the same entry, which has only one proof per
 * checkpoint. If only the checkpoint is newer, the entry is not serialized and hashed again.
 */
@Injectable()
export class RecentProofs {
  private readonly cache = new RecentMap<string, CachedProof>(
    CACHE_CHARACTERS,
    ({ answer, known }) => answer.text.length + known.entry.text.length,
  );

  /** Returns the response for a snapshot's proof. `read` returns null if it is the known one. */
  async answer(
    snapshotId: string,
    read: (known: KnownProof | undefined) => Promise<LogProof | null>,
    answerOf: (proof: LogProof) => JsonText,
  ): Promise<JsonText> {
    const cached = this.cache.get(snapshotId);
    const proof = await this.readOr(snapshotId, () => read(cached?.known));
    if (proof === null) {
      if (cached === undefined) throw new Error(`the proof of ${snapshotId} counts as known, but was not stored`);
      return cached.answer;
    }
    const answer = answerOf(proof);
    // Its hashes are not stored, because they are views into tiles and would retain them.
    const { entry, checkpoint } = proof;
    this.cache.set(snapshotId, { known: { entry, checkpoint }, answer });
    return answer;
  }

  /** Forgets an erased entry's salt and proof, which must not be given any more. */
  private async readOr(snapshotId: string, read: () => Promise<LogProof | null>): Promise<LogProof | null> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof DomainError && GONE.includes(error.code)) this.cache.delete(snapshotId);
      throw error;
    }
  }
}

const GONE: readonly ErrorCode[] = ['erased', 'not_logged_yet'];

interface CachedProof {
  known: KnownProof;
  answer: JsonText;
}
