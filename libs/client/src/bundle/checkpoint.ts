import { encodeBase64, keyLabel, verifyCheckpoint } from '@iss/tlog';
import { CLOCK_SKEW_MS } from '../limits.ts';
import { signaturesOf } from '../verify/floor.ts';
import { judgedLater, RefusedError } from './errors.ts';
import type { Policy, VerifiedCheckpoint, VerifierKey } from './types.ts';

const ALGORITHMS: Readonly<Record<VerifierKey['type'], string>> = {
  ed25519: 'Ed25519',
  'ed25519-cosignature': 'Ed25519',
  'ml-dsa-44-cosignature': 'ML-DSA-44',
};

/** A valid checkpoint, formatted for output. */
export interface ShownCheckpoint {
  log_origin: string;
  tree_size: number;
  /** Base64, as in the note. */
  root_hash: string;
  signed_by: { key: string; algorithm: string; at: string | null }[];
  cosigned_by: { witness: string; key: string; at: string | null }[];
}

/**
 * Verifies a checkpoint by the policy. No signature may have a future time.
 *
 * @throws RefusedError, UnreadableError
 */
export async function requireCheckpoint(note: string, policy: Policy, where: string): Promise<VerifiedCheckpoint> {
  const verified = await judgedLater(where, () => verifyCheckpoint(note, policy));
  const latest = Date.now() + CLOCK_SKEW_MS;
  for (const { key, time } of signaturesOf(verified)) {
    if (time === null || time * 1000 <= latest) continue;
    throw new RefusedError(
      `${where}: the signature of ${keyLabel(key)} has the time ${timeText(time) ?? 'unknown'}, which is in the future. Check the clock of ` +
        'this machine. If it is right, do not trust the signature.',
    );
  }
  return verified;
}

export function shownCheckpoint({ checkpoint, logSignatures, cosignatures }: VerifiedCheckpoint): ShownCheckpoint {
  return {
    log_origin: checkpoint.origin,
    tree_size: checkpoint.size,
    root_hash: encodeBase64(checkpoint.root),
    signed_by: logSignatures.map(({ key, time }) => ({
      key: keyLabel(key),
      algorithm: ALGORITHMS[key.type],
      at: timeText(time),
    })),
    cosigned_by: cosignatures.map(({ witness, signature: { key, time } }) => ({
      witness: witness.name,
      key: keyLabel(key),
      at: timeText(time),
    })),
  };
}

/** The largest time that JavaScript can represent. */
const MAX_SECONDS = 8.64e12;

function timeText(seconds: number | null): string | null {
  return seconds === null ? null : new Date(Math.min(seconds, MAX_SECONDS) * 1000).toISOString().replace('.000Z', 'Z');
}
