import type { VerifiedCheckpoint, VerifiedSignature } from '../bundle/types.ts';
import { VerificationError } from '../errors.ts';
import { MAX_LOG_DELAY_MS } from '../limits.ts';

/** An earlier checkpoint of a log. */
export interface Floor {
  readonly size: number;
  /** The earliest time of its signatures, in milliseconds since 1970; null if none has a time. */
  readonly at: number | null;
}

/** Returns the signatures of the log, then those of the witnesses. */
export function signaturesOf({ logSignatures, cosignatures }: VerifiedCheckpoint): VerifiedSignature[] {
  return [...logSignatures, ...cosignatures.map(({ signature }) => signature)];
}

export function floorOf(verified: VerifiedCheckpoint): Floor {
  const times = signaturesOf(verified).flatMap(({ time }) => time ?? []);
  return { size: verified.checkpoint.size, at: times.length === 0 ? null : Math.min(...times) * 1000 };
}

/** @throws VerificationError `backdated` if an entry after the checkpoint has a time before it */
export function requireNotBackdated(where: string, logIndex: number, createdAt: string, { size, at }: Floor): void {
  if (at === null || logIndex < size || Date.parse(createdAt) >= at - MAX_LOG_DELAY_MS) return;
  throw new VerificationError(
    'backdated',
    `${where} created ${createdAt}, but not in the log at ${new Date(at).toISOString()}.`,
  );
}
