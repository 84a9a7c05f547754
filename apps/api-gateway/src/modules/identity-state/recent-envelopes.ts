import { hashText } from '@iss/domain';
import type { SnapshotRecord } from '@iss/persistence';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';

/** Up to 16 MiB: a character takes one byte, or two where any of the text is beyond Latin-1. */
const KEPT_CHARACTERS = 4 * 1024 * 1024;

/** Where a snapshot that never changes is found: its id, or its place in a subject's chain. */
export type Place = string;

export function placeInChain(subject: { subjectType: string; subjectId: string }, version: number): Place {
  return `${version}/${subject.subjectType}/${subject.subjectId}`;
}

/**
 * Envelopes that were read last, so that reading one again takes only its header, and the caller's right to it, from the
 * database. They never change; the hash in the header says that it is still the one.
 */
@Injectable()
export class RecentEnvelopes {
  private readonly kept = new RecentMap<Place, { hash: string; text: string }>(
    KEPT_CHARACTERS,
    ({ text }) => text.length,
  );

  has(place: Place): boolean {
    return this.kept.get(place) !== undefined;
  }

  /** The snapshot with its envelope, where it was read without; null when the one that is kept is not its own. */
  complete(place: Place, snapshot: SnapshotRecord): SnapshotRecord | null {
    const kept = this.kept.get(place);
    return kept === undefined || kept.hash !== snapshot.envelopeHash ? null : { ...snapshot, envelope: kept.text };
  }

  /** Keeps an envelope that has its hash. */
  keep(place: Place, { envelope, envelopeHash }: SnapshotRecord): void {
    if (envelope === null || envelopeHash === null || hashText(envelope) !== envelopeHash) return;
    this.kept.set(place, { hash: envelopeHash, text: envelope });
  }
}
