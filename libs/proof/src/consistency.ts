import { type Checkpoint, verifyConsistency } from '@iss/tlog';
import { judgedLater } from './errors';
import { decodeHashes } from './inclusion';

/** Returns the hashes (base64) that prove that the tree of `to` entries extends the tree of `from` entries. */
export type FetchConsistency = (from: number, to: number) => Promise<readonly string[]>;

/**
 * Verifies that the larger of two checkpoints of one log extends the smaller one. It asks for a proof only if one is needed.
 *
 * @param where starts the message
 * @throws VerificationError `forked`
 */
export async function requireContinued(
  where: string,
  one: Checkpoint,
  other: Checkpoint,
  fetch: FetchConsistency,
): Promise<void> {
  const [older, newer] = one.size <= other.size ? [one, other] : [other, one];
  const isProofNeeded = older.size > 0 && older.size < newer.size;
  const hashes = isProofNeeded ? await fetch(older.size, newer.size) : [];
  await judgedLater(where, async () => verifyConsistency(older, newer, decodeHashes(hashes)), 'forked');
}
