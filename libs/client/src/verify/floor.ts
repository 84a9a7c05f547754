import type { VerifiedCheckpoint, VerifiedSignature } from '../bundle/types.ts';
import { VerificationError } from '../errors.ts';
import { MAX_LOG_DELAY_MS } from '../limits.ts';

/** What a log had shown before. */
export interface Floor {
  /** Entries. */
  readonly size: number;
  /** When it was seen at the latest, in milliseconds since 1970, by its first signature with a time; null: none has one. */
  readonly at: number | null;
}

/** The log's, then the witnesses'. */
export function signaturesOf({ logSignatures, cosignatures }: VerifiedCheckpoint): VerifiedSignature[] {
  return [...logSignatures, ...cosignatures.map(({ signature }) => signature)];
}

export function floorOf(verified: VerifiedCheckpoint): Floor {
  const times = signaturesOf(verified).flatMap(({ time }) => time ?? []);
  return { size: verified.checkpoint.size, at: times.length === 0 ? null : Math.min(...times) * 1000 };
}

/** @throws VerificationError `backdated` for what came behind a checkpoint, and says that it is older than that */
export function requireNotBackdated(where: string, logIndex: number, createdAt: string, { size, at }: Floor): void {
  if (at === null || logIndex < size || Date.parse(createdAt) >= at - MAX_LOG_DELAY_MS) return;
  throw new VerificationError(
    'backdated',
    `${where} it is of ${createdAt}, but not in the log at ${new Date(at).toISOString()}.`,
  );
}
