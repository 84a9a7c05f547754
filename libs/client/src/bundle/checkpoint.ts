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

/** A checkpoint that the policy takes as valid, as it is shown. */
export interface ShownCheckpoint {
  log_origin: string;
  tree_size: number;
  /** Base64, as in the note. */
  root_hash: string;
  signed_by: { key: string; algorithm: string; at: string | null }[];
  cosigned_by: { witness: string; key: string; at: string | null }[];
}

/**
 * The checkpoint of a note, if the policy takes it as valid and no signature is of a time to come.
 *
 * @throws RefusedError, UnreadableError
 */
export async function requireCheckpoint(note: string, policy: Policy, where: string): Promise<VerifiedCheckpoint> {
  const verified = await judgedLater(where, () => verifyCheckpoint(note, policy));
  const latest = Date.now() + CLOCK_SKEW_MS;
  for (const { key, time } of signaturesOf(verified)) {
    if (time === null || time * 1000 <= latest) continue;
    throw new RefusedError(
      `${where}: ${keyLabel(key)} says that it signed at ${timeText(time) ?? 'no time'}, which is yet to come. If the clock of this ` +
        'machine is right, that signature is not honest.',
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

/** The last time that JavaScript has. */
const MAX_SECONDS = 8.64e12;

function timeText(seconds: number | null): string | null {
  return seconds === null ? null : new Date(Math.min(seconds, MAX_SECONDS) * 1000).toISOString().replace('.000Z', 'Z');
}
