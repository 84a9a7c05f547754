import type { JsonValue } from '@iss/domain/pure';
import { requireMembers, textOf } from '../content';
import { Members } from '../members';
import { proveContinued } from '../steps/checkpoint-steps';
import {
  type Fetched,
  type Done,
  fails,
  holdsBy,
  type Inputs,
  open,
  runStep,
  type Step,
  type VersionEvidence,
} from '../steps/step';
import { readPolicy } from '../trust';
import { verifyMapAnswer } from './answer';

/** The inputs of the step, as the service returned them. None of them is trusted. */
export interface NewestEvidence extends Pick<
  VersionEvidence,
  'subjectType' | 'subjectId' | 'version' | 'snapshot' | 'proof' | 'trusted' | 'isTrustOfService'
> {
  readonly newest: NewestAnswer;
}

/** The response of `…/latest-proof`, and the checkpoint that the reader kept, with the proof that its checkpoint continues the kept one. */
export interface NewestAnswer extends Pick<VersionEvidence, 'kept' | 'consistency'> {
  readonly answer: Fetched<JsonValue>;
}

/** Proves which version of the subject is the newest in the log, and that it has the hash of the shown one if it is the same version. */
export async function proveNewestVersion(evidence: NewestEvidence): Promise<Step> {
  return runStep('newest', async (inputs) => newestStep(evidence, inputs));
}

async function newestStep(evidence: NewestEvidence, inputs: Inputs): Promise<Done> {
  const { newest, version, trusted } = evidence;
  if ('not' in newest.answer) return open(`There is no proof of the newest version: ${newest.answer.not}`, inputs);
  const policy = await readPolicy(trusted);
  if (policy.vrfKey === null) {
    const why = 'The policy that you trust has no VRF key. Ask for the key, and add it as a line: vrf VRF+…';
    return open(why, inputs);
  }
  inputs.push(['vrfKey', policy.vrfKey]);
  const answer = Members.of('The proof', newest.answer.got);
  const map = answer.object('map');
  const note = map.text('checkpoint');
  inputs.push(['note', note], ['mapRoot', map.object('map_root').text('entry')]);
  const { subjectType: subject_type, subjectId: subject_id } = evidence;
  requireMembers('The proof', answer.all, { subject_type, subject_id }, 'other_version');
  const { shown, json } = await verifyMapAnswer(answer, { policy, vrfKey: policy.vrfKey });
  const continued = await proveContinued(note, { ...newest, trusted }, []);
  if (continued.state === 'fails') return fails(continued.why, inputs);
  const number = answer.count('snapshot_version');
  const size = answer.count('as_of_size');
  const said = `Version ${Object.fromEntries(shown)['Version']}.`;
  if (number > version) return holdsBy(evidence, `${said} This page shows version ${version}.`, inputs);
  if (number < version) {
    return isLoggedBefore(evidence, size)
      ? fails(`${said} But the log entry of version ${version} is among them.`, inputs)
      : open(`${said} Version ${version} is not among them yet.`, inputs);
  }
  const { envelope_hash: claimed } = Members.of('The snapshot', evidence.snapshot).all;
  return textOf(claimed) === json['envelope_hash']
    ? holdsBy(evidence, said, inputs)
    : fails(`${said} But its hash in the log is not the hash that the service states.`, inputs);
}

function isLoggedBefore({ proof }: NewestEvidence, size: number): boolean {
  return 'got' in proof && Members.of('The proof', proof.got).count('log_index') < size;
}
