import { DomainError, type ErrorCode } from '@iss/domain';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import type { KnownProof } from '../../log/log-proof.service';
import type { JsonText } from '../../http/answer/json-text';

/** Up to 16 MiB, including what is known besides the response. */
const CACHE_CHARACTERS = 4 * 1024 * 1024;

/**
 * Remembers the last responses with log proofs of snapshots, and with proofs of newest versions. To repeat one, the
 * database only checks the caller's right, which version is the newest, and whether the entry's salt is unchanged.
 * Equal salts mean the same entry, which has only one proof per checkpoint. If only the checkpoint is newer, the entry is not serialized and hashed again.
 */
@Injectable()
export class RecentProofs {
  private readonly cache = new RecentMap<string, CachedProof>(
    CACHE_CHARACTERS,
    ({ answer, known }) => answer.text.length + known.entry.text.length,
  );

  /** Returns the response to a question, which `name` identifies. `read` returns null if its proof is the known one. */
  async answer<Proof extends KnownProof>(
    name: string,
    read: (known: KnownProof | undefined) => Promise<Proof | null>,
    answerOf: (proof: Proof) => JsonText,
  ): Promise<JsonText> {
    const cached = this.cache.get(name);
    const proof = await this.readOr(name, () => read(cached?.known));
    if (proof === null) {
      if (cached === undefined) throw new Error(`the proof of ${name} counts as known, but was not stored`);
      return cached.answer;
    }
    const answer = answerOf(proof);
    // Its hashes are not stored, because they are views into tiles and would retain them.
    const { entry, checkpoint } = proof;
    this.cache.set(name, { known: { entry, checkpoint }, answer });
    return answer;
  }

  /** Forgets an erased entry's salt and proof, which must no longer be returned. */
  private async readOr<Proof>(name: string, read: () => Promise<Proof>): Promise<Proof> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof DomainError && GONE.includes(error.code)) this.cache.delete(name);
      throw error;
    }
  }
}

const GONE: readonly ErrorCode[] = ['erased', 'not_logged_yet'];

interface CachedProof {
  known: KnownProof;
  answer: JsonText;
}
