import { LogCheckpointStore } from '@iss/persistence';
import { sharedChecks } from '@iss/platform';
import { formatNote, parseNote } from '@iss/tlog';
import { Inject, Injectable } from '@nestjs/common';

/** Of an Ed25519 signature line, with the time of a cosignature; those of ML-DSA-44 are forty times as long. */
const MAX_ED25519_BYTES = 8 + 64;
/** Characters: receivers bound the headers that they take. */
const MAX_HEADER_LENGTH = 4096;

/** The newest published checkpoint as deliveries carry it: whoever keeps it can tell later whether the log still has it. */
@Injectable()
export class NewestCheckpoint {
  /** Read at most once a second, whatever is delivered. */
  private readonly read = sharedChecks<string | null>(
    async () => headerOf((await this.checkpoints.newest())?.note ?? null),
    null,
  );

  constructor(@Inject(LogCheckpointStore) private readonly checkpoints: Pick<LogCheckpointStore, 'newest'>) {}

  /** Base64 of the note with its Ed25519 lines; null where there is none, or it is too long. Never rejects. */
  async header(): Promise<string | null> {
    return this.read().catch(() => null);
  }
}

/** The header's value; null for a note that is none, has no such line, or is too long. */
export function headerOf(note: string | null): string | null {
  if (note === null) return null;
  const { text, signatures } = parseNote(note);
  const short = signatures.filter(({ signature }) => signature.length <= MAX_ED25519_BYTES);
  if (short.length === 0) return null;
  const value = Buffer.from(formatNote({ text, signatures: short })).toString('base64');
  return value.length > MAX_HEADER_LENGTH ? null : value;
}
