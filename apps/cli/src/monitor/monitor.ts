import { type Checkpoint, equalBytes, type Policy, type VerifiedCheckpoint } from '@iss/tlog';
import { Failure, UsageError } from '../command';
import { below, fetchText } from '../fetch-text';
import { requireCheckpoint } from '../trust/checkpoint';
import { fetchConsistency, requireConsistent } from '../trust/consistency';
import { withoutQuorum } from '../trust/policy';
import { visible } from '../visible';
import type { MonitorState } from './state';

/** The log showed what does not go together with what it showed before: two signed notes prove it. */
export class Contradiction extends Failure {}

/** What a look at the log found. */
export interface Look {
  readonly verified: VerifiedCheckpoint;
  /** Entries of the checkpoint before; null at the first look. */
  readonly knownSize: number | null;
}

/**
 * Fetches the newest checkpoint, verifies it by the policy and that the log only grew since the last look, and keeps it.
 *
 * @throws Contradiction when the log went back or shows another history, with both notes kept; Failure when it could not be
 *   fetched or verified, or is of no policy; UsageError
 */
export async function lookAtLog(url: string, policy: Policy, state: MonitorState, signal: AbortSignal): Promise<Look> {
  const note = await fetchText(below(url, 'checkpoint'), signal);
  const verified = await shownByLog(() => requireCheckpoint(note, policy, 'The checkpoint that the log shows'));
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
      `The state file is of the log ${known.origin}, and this is ${checkpoint.origin}: name another file.`,
    );
  }
  const contradict = async (how: string): Promise<never> => {
    const files = await state.keepEvidence(knownNote, note);
    throw new Contradiction(
      `The log ${visible(known.origin)} ${how}. Both checkpoints are signed and kept as evidence: ${files.join(', ')}. The state is unchanged.`,
    );
  };
  if (checkpoint.size < known.size) {
    return contradict(`went back: it showed ${known.size} entries before, and shows ${checkpoint.size} now`);
  }
  if (checkpoint.size === known.size) {
    if (equalBytes(checkpoint.root, known.root)) await state.write(note);
    else return contradict(`shows two histories of ${known.size} entries`);
    return { verified, knownSize: known.size };
  }
  const fault = await growthFault(url, known, checkpoint, signal);
  if (fault !== null) {
    return contradict(
      `did not prove that its ${checkpoint.size} entries go on from the ${known.size} that it showed before (${fault})`,
    );
  }
  await state.write(note);
  return { verified, knownSize: known.size };
}

/** Why the newer checkpoint is not proved to go on from the known one; null where it is. */
async function growthFault(
  url: string,
  known: Checkpoint,
  newer: Checkpoint,
  signal: AbortSignal,
): Promise<string | null> {
  const proof = await shownByLog(() => fetchConsistency(url, known, newer, signal));
  try {
    requireConsistent(known, newer, proof);
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

/** Garbage that the log answers is no fault of who called. */
async function shownByLog<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UsageError ? new Failure(error.message) : error;
  }
}
