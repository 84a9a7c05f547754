import { DomainError, type ErrorCode } from '@iss/domain';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import type { KnownProof, LogProof } from '../../log/log-proof.service';
import type { JsonText } from '../answer/json-text';

/** Up to 16 MiB, with what is known beside the answer. */
const KEPT_CHARACTERS = 4 * 1024 * 1024;

/**
 * Answers with log proofs of snapshots, as they were given last. Giving one again takes only the caller's right to it from
 * the database, and whether the entry still has the salt: what has one salt is one entry, and against one checkpoint it has one
 * proof. Where only the checkpoint is a newer one, the entry is not written and hashed anew.
 */
@Injectable()
export class RecentProofs {
  private readonly kept = new RecentMap<string, Kept>(
    KEPT_CHARACTERS,
    ({ answer, known }) => answer.text.length + known.entry.text.length,
  );

  /** The answer of a snapshot's proof. `read` gives null when it is the known one. */
  async answer(
    snapshotId: string,
    read: (known: KnownProof | undefined) => Promise<LogProof | null>,
    answerOf: (proof: LogProof) => JsonText,
  ): Promise<JsonText> {
    const kept = this.kept.get(snapshotId);
    const proof = await this.readOr(snapshotId, () => read(kept?.known));
    if (proof === null) {
      if (kept === undefined) throw new Error(`the proof of ${snapshotId} was said to be known, and is not`);
      return kept.answer;
    }
    const answer = answerOf(proof);
    // Not its hashes: they are views into tiles, and would keep those.
    const { entry, checkpoint } = proof;
    this.kept.set(snapshotId, { known: { entry, checkpoint }, answer });
    return answer;
  }

  /** Of what was erased the salt is not kept here either: a proof that was given before, and cannot be given any more. */
  private async readOr(snapshotId: string, read: () => Promise<LogProof | null>): Promise<LogProof | null> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof DomainError && GONE.includes(error.code)) this.kept.delete(snapshotId);
      throw error;
    }
  }
}

const GONE: readonly ErrorCode[] = ['erased', 'not_logged_yet'];

interface Kept {
  known: KnownProof;
  answer: JsonText;
}
