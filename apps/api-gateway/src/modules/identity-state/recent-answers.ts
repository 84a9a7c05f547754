import { hashText } from '@iss/domain';
import type { SnapshotRecord, SnapshotTarget } from '@iss/persistence';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import { notFound } from '../../access/read-access';
import type { JsonText } from '../../http/json-text';
import { REUSE, snapshotAnswer } from './snapshot.views';

/** Up to 16 MiB: a character takes one byte, or two where any of the text is beyond Latin-1. */
const KEPT_CHARACTERS = 4 * 1024 * 1024;

/**
 * Answers that hold a whole snapshot, as they were given last. Reading one again takes only the caller's right to it from
 * the database, and whether the snapshot found there still has the hash: what has one hash has one content.
 */
@Injectable()
export class RecentAnswers {
  private readonly kept = new RecentMap<string, { hash: Buffer; answer: JsonText }>(
    KEPT_CHARACTERS,
    ({ answer }) => answer.text.length,
  );

  /** The snapshot as an answer. `read` gives null when the one it finds has the hash that it is given. */
  async answer(
    target: SnapshotTarget,
    read: (knownHash: Buffer | undefined) => Promise<SnapshotRecord | null>,
  ): Promise<JsonText> {
    const key = keyOf(target);
    const known = this.kept.get(key);
    const snapshot = await read(known?.hash);
    if (snapshot !== null) return this.keep(key, snapshot, snapshotAnswer(snapshot, 'full', REUSE[target.kind]));
    if (known === undefined) throw notFound();
    return known.answer;
  }

  /** Keeps what will always be answered so: nothing that was tampered with, or imported and may yet get its hashes. */
  private keep(key: string, { envelope, envelopeHash }: SnapshotRecord, answer: JsonText): JsonText {
    if (answer.caching !== undefined && envelope !== null && hashText(envelope) === envelopeHash) {
      this.kept.set(key, { hash: Buffer.from(envelopeHash, 'hex'), answer });
    }
    return answer;
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
