import { LogCheckpointStore } from '@iss/persistence';
import { sharedChecks } from '@iss/platform';
import { formatNote, parseNote } from '@iss/tlog';
import { Inject, Injectable } from '@nestjs/common';

/**
 * Length of an Ed25519 signature, including the time of a cosignature. Signatures of ML-DSA-44 are forty times as long.
 */
const MAX_ED25519_BYTES = 8 + 64;
/** In characters. Receivers limit the size of headers. */
const MAX_HEADER_LENGTH = 4096;

/**
 * The newest published checkpoint, which deliveries carry. A receiver that stores it can check later that the log still
 * contains it.
 */
@Injectable()
export class NewestCheckpoint {
  /** Read at most once per second, however many deliveries are sent. */
  private readonly read = sharedChecks<string | null>(
    async () => checkpointHeader((await this.checkpoints.newest())?.note ?? null),
    null,
  );

  constructor(@Inject(LogCheckpointStore) private readonly checkpoints: Pick<LogCheckpointStore, 'newest'>) {}

  /**
   * Returns the base64 of the note with its Ed25519 lines; null if there is none, or if it is too long. Never rejects.
   */
  async header(): Promise<string | null> {
    return this.read().catch(() => null);
  }
}

/** Returns the header's value; null without a note, without an Ed25519 line, or if it is too long. */
export function checkpointHeader(note: string | null): string | null {
  if (note === null) return null;
  const { text, signatures } = parseNote(note);
  const short = signatures.filter(({ signature }) => signature.length <= MAX_ED25519_BYTES);
  if (short.length === 0) return null;
  const value = Buffer.from(formatNote({ text, signatures: short })).toString('base64');
  return value.length > MAX_HEADER_LENGTH ? null : value;
}
