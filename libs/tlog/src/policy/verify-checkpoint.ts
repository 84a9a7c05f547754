import { parseCheckpoint, type Checkpoint } from '../checkpoint/checkpoint';
import { TlogError } from '../errors';
import { isSameKey } from '../note/keys';
import { parseNote } from '../note/note';
import { openNote, type VerifiedSignature } from '../note/open-note';
import type { SignatureCrypto } from '../note/signature-crypto';
import { createVerifier } from '../note/verifier';
import { isQuorum, type Policy, type PolicyWitness } from './policy';

/** A witness's word that it saw this checkpoint at a time, and nothing that contradicts it. */
export interface Cosignature {
  readonly witness: PolicyWitness;
  readonly signature: VerifiedSignature;
}

/** A checkpoint that a policy takes as valid, and by whose signatures. */
export interface VerifiedCheckpoint {
  readonly checkpoint: Checkpoint;
  /** Of the log's keys in the policy, one each, at least one. */
  readonly logSignatures: readonly VerifiedSignature[];
  /** Of the policy's witnesses, one each. */
  readonly cosignatures: readonly Cosignature[];
}

/**
 * Verifies a checkpoint against a policy: it is signed by a log of the policy whose name is the checkpoint's origin, and
 * cosigned as the quorum says (C2SP tlog-policy). Every line of a key of that log or of a witness must verify.
 *
 * @throws TlogError `malformed` or `out_of_range`; `wrong_log` when the policy has no log of that origin; `unsigned` when
 *   none of its keys signed; `bad_signature`, `ambiguous_key`, `unsupported_key` as `openNote`; `no_quorum`
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
      `The policy asks for ${policy.quorum ?? 'none'}; cosigned by: ${cosigners.join(', ') || 'nobody'}. Retry.`,
    );
  }
  return { checkpoint, logSignatures, cosignatures };
}
