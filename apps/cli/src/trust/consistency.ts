import { judged, Members } from '@identity-state/client/bundle';
import { type Checkpoint, decodeHash, MAX_PROOF_HASHES, verifyConsistency } from '@iss/tlog';
import { UsageError } from '../command';
import { below, fetchText } from '../fetch-text';
import { explained } from './refusal';

/** Fetches the proof that the newer tree extends the older one. @throws Failure, UsageError */
export async function fetchConsistency(
  log: string,
  older: Checkpoint,
  newer: Checkpoint,
  signal?: AbortSignal,
): Promise<Uint8Array[]> {
  // The proof for an empty tree, or for the same size, is empty.
  if (older.size === 0 || older.size === newer.size) return [];
  const url = below(log, `consistency?from=${older.size}&to=${newer.size}`);
  return readConsistency(Buffer.from(await fetchText(url, signal)));
}

/** Parses an answer of `/log/consistency`. @throws UsageError */
export function readConsistency(answer: Buffer): Uint8Array[] {
  const hashes = explained(() => Members.parse('The consistency proof', answer).texts('proof'));
  if (hashes.length > MAX_PROOF_HASHES)
    throw new UsageError(`The consistency proof has more than ${MAX_PROOF_HASHES} hashes.`);
  return explained(() =>
    judged('The consistency proof', () => hashes.map((hash) => decodeHash(hash, 'hash of the consistency proof'))),
  );
}

/** Orders two checkpoints of one log by size. */
export function inOrder(one: Checkpoint, other: Checkpoint): readonly [older: Checkpoint, newer: Checkpoint] {
  return one.size <= other.size ? [one, other] : [other, one];
}

/** @throws Failure unless the proof shows that the newer tree extends the older one */
export function requireConsistent(older: Checkpoint, newer: Checkpoint, proof: readonly Uint8Array[]): void {
  explained(() =>
    judged(`The checkpoints of ${older.size} and ${newer.size} entries`, () => verifyConsistency(older, newer, proof)),
  );
}
