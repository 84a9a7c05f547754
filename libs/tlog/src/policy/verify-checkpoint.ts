import { parseCheckpoint, type Checkpoint } from '../checkpoint/checkpoint';
import { TlogError } from '../errors';
import { isSameKey } from '../note/keys';
import { parseNote } from '../note/note';
import { openNote, type VerifiedSignature } from '../note/open-note';
import type { SignatureCrypto } from '../note/signature-crypto';
import { createVerifier } from '../note/verifier';
import { isQuorum, type Policy, type PolicyWitness } from './policy';

/** A witness's statement that it saw this checkpoint at a given time, and nothing that contradicts it. */
export interface Cosignature {
  readonly witness: PolicyWitness;
  readonly signature: VerifiedSignature;
}

/** A checkpoint that is valid under a policy, with the signatures that make it valid. */
export interface VerifiedCheckpoint {
  readonly checkpoint: Checkpoint;
  /** Those of the log and of the witnesses, in the order of the note. */
  readonly signatures: readonly VerifiedSignature[];
  /** One for each of the log's keys in the policy that signed; at least one. */
  readonly logSignatures: readonly VerifiedSignature[];
  /** One for each witness of the policy that cosigned. */
  readonly cosignatures: readonly Cosignature[];
}

/**
 * Verifies a checkpoint against a policy: a log of the policy with the checkpoint's origin signed it, and the quorum
 * cosigned it (C2SP tlog-policy). Every line of that log's keys and of the witnesses must verify.
 *
 * @throws TlogError `malformed` or `out_of_range`; `wrong_log` if the policy has no log with this origin; `unsigned` if
 *   none of its keys signed; `bad_signature`, `ambiguous_key` and `unsupported_key` as `openNote`; `no_quorum`
 */
export async function verifyCheckpoint(
  note: string,
  policy: Policy,
  signatures?: SignatureCrypto,
): Promise<VerifiedCheckpoint> {
  const checkpoint = parseCheckpoint(parseNote(note).text);
  const logKeys = policy.logs.map(({ key }) => key).filter((key) => key.name === checkpoint.origin);
  if (logKeys.length === 0) {
    throw new TlogError('wrong_log', `The policy does not name the log ${checkpoint.origin}.`);
  }
  const keys = [...logKeys, ...policy.witnesses.map(({ key }) => key)];
  const { verified } = await openNote(
    note,
    keys.map((key) => createVerifier(key, signatures)),
  );
  const byKey = (key: (typeof keys)[number]): VerifiedSignature | undefined =>
    verified.find((one) => isSameKey(one.key, key));

  const logSignatures = logKeys.map(byKey).filter((signature) => signature !== undefined);
  if (logSignatures.length === 0) {
    throw new TlogError('unsigned', `No key of the log ${checkpoint.origin} signed it.`);
  }
  const cosignatures = policy.witnesses.flatMap((witness) => {
    const signature = byKey(witness.key);
    return signature === undefined ? [] : [{ witness, signature }];
  });
  const cosigners = cosignatures.map(({ witness }) => witness.name);
  if (!isQuorum(policy, new Set(cosigners))) {
    throw new TlogError(
      'no_quorum',
      `The policy requires ${policy.quorum ?? 'none'}; cosigned by: ${cosigners.join(', ') || 'none'}. Retry.`,
    );
  }
  return { checkpoint, signatures: verified, logSignatures, cosignatures };
}
