import { requireCheckpoint, requireContinued, UnreadableError, VerificationError, withoutQuorum } from '@iss/proof';
import { equalBytes, type Policy, type VerifiedCheckpoint } from '@iss/tlog';
import { Failure, UsageError } from '../command';
import { below, fetchText } from '../fetch-text';
import { fetchConsistencyOf } from '../trust/consistency';
import { visible } from '../visible';
import type { MonitorState } from './state';

/** The log contradicted itself. Two signed checkpoints prove it. */
export class Contradiction extends Failure {}

/** The result of one check of the log. */
export interface LogLook {
  readonly verified: VerifiedCheckpoint;
  /** The size of the previous checkpoint; null at the first check. */
  readonly knownSize: number | null;
}

/** The known checkpoint, and evidence against the log. */
export type KnownCheckpoint = Pick<MonitorState, 'read' | 'write' | 'keepEvidence'>;

/** Fetches the newest checkpoint and checks it as {@link continueLog}. */
export async function lookAtLog(
  url: string,
  policy: Policy,
  state: KnownCheckpoint,
  signal: AbortSignal,
): Promise<LogLook> {
  return continueLog(await fetchText(below(url, 'checkpoint'), signal), url, policy, state, signal);
}

/**
 * Verifies a checkpoint by the policy, checks that the log only grew since the last check, and saves the checkpoint.
 *
 * @throws Contradiction if the log went back or shows another history. Both checkpoints are then saved as evidence.
 * @throws Failure if the checkpoint cannot be verified; VerificationError, UsageError for an invalid state file
 */
export async function continueLog(
  note: string,
  url: string,
  policy: Policy,
  state: KnownCheckpoint,
  signal: AbortSignal,
): Promise<LogLook> {
  const verified = await ofLog(() => requireCheckpoint(note, policy, 'The checkpoint of the log'));
  const { checkpoint } = verified;
  const knownNote = await state.read();
  if (knownNote === null) {
    await state.write(note);
    return { verified, knownSize: null };
  }
  const { checkpoint: known } = await requireCheckpoint(
    knownNote,
    withoutQuorum(policy),
    'The checkpoint in the state file',
  );
  if (known.origin !== checkpoint.origin) {
    throw new UsageError(
      `The state file is of the log ${known.origin}, but this log is ${checkpoint.origin}. Name another file with --state.`,
    );
  }
  const contradict = async (how: string): Promise<never> => {
    const files = await state.keepEvidence(knownNote, note);
    throw new Contradiction(
      `The log ${visible(known.origin)} ${how}. Both signed checkpoints are saved as evidence: ${files.join(', ')}. The state file is unchanged.`,
    );
  };
  if (checkpoint.size < known.size) {
    return contradict(`went back from ${known.size} entries to ${checkpoint.size}`);
  }
  if (checkpoint.size === known.size) {
    if (equalBytes(checkpoint.root, known.root)) await state.write(note);
    else return contradict(`shows two histories of ${known.size} entries`);
    return { verified, knownSize: known.size };
  }
  try {
    const where = `The checkpoints of ${known.size} and ${checkpoint.size} entries`;
    const fetch = fetchConsistencyOf(url, signal);
    await requireContinued(where, known, checkpoint, (from, to) => ofLog(() => fetch(from, to)));
  } catch (error) {
    if (error instanceof UnreadableError) throw new Failure(error.message);
    if (!(error instanceof VerificationError)) throw error;
    return contradict(
      `did not prove that its ${checkpoint.size} entries extend the previous ${known.size} (${error.message})`,
    );
  }
  await state.write(note);
  return { verified, knownSize: known.size };
}

/** Turns a VerificationError into a Failure, because an invalid answer of the log is not the caller's fault. */
async function ofLog<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof VerificationError ? new Failure(error.message) : error;
  }
}
