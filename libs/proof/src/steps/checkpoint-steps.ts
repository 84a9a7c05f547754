import { type Checkpoint, equalBytes, formatVerifierKey, type Policy } from '@iss/tlog';
import { requireContinued } from '../consistency';
import { VerificationError } from '../errors';
import { shownCheckpoint } from '../report';
import { readPolicy, requireCheckpoint, withoutQuorum } from '../trust';
import { checkpointOf, ofCheckpoint } from './log-steps';
import { type Done, fails, holds, holdsBy, type Inputs, open, type VersionEvidence } from './step';

/** Checks that the log signed the checkpoint. */
export const proveSignature = ofCheckpoint(async (note, evidence, inputs) => {
  const policy = await readPolicy(evidence.trusted);
  inputs.push(['note', note], ['keys', keysText(policy.logs)]);
  const verified = await requireCheckpoint(note, ofLogAlone(policy), 'The checkpoint');
  inputs.push(['signedBy', signersText(shownCheckpoint(verified).signed_by)]);
  return holdsBy(evidence, `${verified.checkpoint.origin} signed it.`, inputs);
});

/** Checks that the witnesses cosigned the checkpoint. */
export const proveWitnesses = ofCheckpoint(async (note, evidence, inputs) => {
  const policy = await readPolicy(evidence.trusted);
  inputs.push(['witnessKeys', keysText(policy.witnesses)]);
  if (policy.quorum === null) {
    return open('The keys that you trust name no witness. Only the log vouches for it.', inputs);
  }
  const { cosigned_by: cosigned } = shownCheckpoint(await requireCheckpoint(note, policy, 'The checkpoint'));
  inputs.push(['cosignedBy', signersText(cosigned)]);
  const { length } = cosigned;
  const who = length === 1 ? 'One witness' : `${length} witnesses`;
  return holdsBy(evidence, `${who} that you trust cosigned it.`, inputs);
});

/** Proves that a checkpoint and the kept one are of one log. Open without a kept one. @throws VerificationError */
export async function proveContinued(
  note: string,
  { trusted, kept, consistency }: Pick<VersionEvidence, 'trusted' | 'kept' | 'consistency'>,
  inputs: Inputs,
): Promise<Done> {
  if (kept === null) {
    const why =
      'This browser had kept no checkpoint of this log. It now keeps this one, and compares the next one with it.';
    return open(why, inputs);
  }
  inputs.push(['kept', kept], ['note', note]);
  const shown = checkpointOf(note);
  const policy = ofLogAlone(await readPolicy(trusted));
  let known: Checkpoint;
  try {
    known = (await requireCheckpoint(kept, policy, 'The checkpoint')).checkpoint;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const why = `The keys that you trust cannot verify the checkpoint that this browser kept: ${error.message}`;
    return open(why, inputs);
  }
  const size = shown.size.toLocaleString();
  if (known.size === shown.size) {
    return equalBytes(known.root, shown.root)
      ? holds(`It is the same tree of ${size} entries that this browser kept.`, inputs)
      : fails(
          `The log shows two different trees of ${size} entries. Keep both checkpoints: together they prove it.`,
          inputs,
        );
  }
  if (consistency !== null && 'not' in consistency) {
    return fails(`The log did not prove that it extends the kept checkpoint: ${consistency.not}`, inputs);
  }
  const hashes = consistency?.got ?? [];
  inputs.push(['consistency', hashes.join('\n')]);
  await requireContinued('The log', known, shown, async () => hashes);
  const [older, newer] = [known.size, shown.size].sort((one, other) => one - other).map((one) => one.toLocaleString());
  return holds(`The tree of ${newer} entries extends the tree of ${older} entries.`, inputs);
}

function ofLogAlone(policy: Policy): Policy {
  return { ...withoutQuorum(policy), witnesses: [], groups: [] };
}

function keysText(keys: Policy['logs']): string {
  return keys.map(({ key }) => formatVerifierKey(key)).join('\n');
}

function signersText(signers: readonly { readonly key: string; readonly at: string | null }[]): string {
  return signers.map(({ key, at }) => (at === null ? key : `${key}, at ${at}`)).join('\n');
}
