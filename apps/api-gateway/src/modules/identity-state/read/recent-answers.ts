import { hashText } from '@iss/domain';
import type { SnapshotRecord, SnapshotTarget } from '@iss/persistence';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import { notFound } from '../../../access/read-access';
import type { JsonText } from '../../../http/answer/json-text';
import { REUSE, snapshotAnswer } from '../snapshot/snapshot.views';

/** Up to 16 MiB: a character takes one byte, or two where any of the text is beyond Latin-1. */
const KEPT_CHARACTERS = 4 * 1024 * 1024;

/**
 * Answers that hold a whole snapshot, as they were given last. Reading one again takes only the caller's right to it from
 * the database, and whether the snapshot found there still has the hash: what has one hash has one content.
 */
@Injectable()
export class RecentAnswers {
  private readonly kept = new RecentMap<string, Kept>(KEPT_CHARACTERS, ({ answer }) => answer.text.length);

  /** The snapshot as an answer. `read` gives null when the one it finds has the hash that it is given. */
  async answer(
    target: SnapshotTarget,
    read: (knownHash: Buffer | undefined) => Promise<SnapshotRecord | null>,
  ): Promise<JsonText> {
    const key = keyOf(target);
    const kept = this.kept.get(key);
    const snapshot = await read(kept?.provenHash());
    if (snapshot !== null) return this.keep(key, snapshot, snapshotAnswer(snapshot, 'full', REUSE[target.kind]));
    if (kept === undefined) throw notFound();
    return kept.answer;
  }

  /** Keeps what will always be answered so, which what was imported without its hashes will not. */
  private keep(key: string, { envelope, envelopeHash }: SnapshotRecord, answer: JsonText): JsonText {
    if (answer.caching !== undefined && envelope !== null && envelopeHash !== null) {
      this.kept.set(key, new Kept(answer, envelopeHash, envelope.length));
    }
    return answer;
  }
}

class Kept {
  private proven: Buffer | null | undefined;

  constructor(
    readonly answer: JsonText,
    private readonly hash: string,
    private readonly envelopeLength: number,
  ) {}

  /**
   * The snapshot's hash; undefined where the envelope has another, having been tampered with. Found out when it is asked
   * for: many answers are never asked for again.
   */
  provenHash(): Buffer | undefined {
    if (this.proven === undefined) {
      // The envelope stands last in the answer, before one brace.
      const envelope = this.answer.text.slice(-1 - this.envelopeLength, -1);
      this.proven = hashText(envelope) === this.hash ? Buffer.from(this.hash, 'hex') : null;
    }
    return this.proven ?? undefined;
  }
}

function keyOf(target: SnapshotTarget): string {
  switch (target.kind) {
    case 'latest':
      return `latest/${target.subject.subjectType}/${target.subject.subjectId}`;
    case 'version':
      return `${target.version}/${target.subject.subjectType}/${target.subject.subjectId}`;
    case 'id':
      return target.snapshotId;
  }
}
