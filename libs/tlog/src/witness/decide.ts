import type { Checkpoint } from '../checkpoint/checkpoint';
import { TlogError } from '../errors';
import { openNote } from '../note/open-note';
import type { Verifier } from '../note/verifier';
import { emptyRoot } from '../tree/hashes';
import { verifyConsistency, type TreeHead } from '../tree/verify';
import type { ParsedAddCheckpoint } from './add-checkpoint';

/** Why a witness does not cosign: the status and, for its body, what to do. A 409's body is the size instead. */
export type WitnessRefusal =
  | { readonly status: 400 | 403 | 404 | 422; readonly message: string }
  | { readonly status: 409; readonly size: number };

/** What a witness answers by what it knows: it cosigns, or it refuses. */
export type WitnessDecision = { readonly status: 200; readonly checkpoint: Checkpoint } | WitnessRefusal;

/**
 * The checks that need no state: 404 for an origin without keys, 403 when none of the keys signed or a line of one of them
 * does not verify. Null when both pass.
 *
 * @param logKeys the keys that the witness trusts for an origin; none for one that it does not know
 * @throws TlogError `unsupported_key` or `ambiguous_key`: the witness's own configuration, not the caller
 */
export async function refuseUnauthentic(
  { note, checkpoint }: ParsedAddCheckpoint,
  logKeys: (origin: string) => readonly Verifier[],
): Promise<WitnessRefusal | null> {
  const verifiers = logKeys(checkpoint.origin);
  if (verifiers.length === 0) {
    return { status: 404, message: `This witness does not know the log ${checkpoint.origin}.` };
  }
  try {
    await openNote(note, verifiers);
    return null;
  } catch (error) {
    if (error instanceof TlogError && (error.code === 'unsigned' || error.code === 'bad_signature')) {
      return { status: 403, message: error.message };
    }
    throw error;
  }
}

/**
 * The checks against what the witness cosigned last, in C2SP tlog-witness's order: 400 (the old size is above the
 * checkpoint's), 409 (it is not the last one's), 422 (root or proof do not hold). Of an authentic request only
 * (`refuseUnauthentic`).
 *
 * It waits for nothing, so that a witness may compare, persist the checkpoint and only then answer 200, with nothing of
 * the same log in between.
 *
 * @param last what it cosigned last of this origin; null for nothing
 */
export function decideAddCheckpoint(
  { oldSize, consistency, checkpoint }: ParsedAddCheckpoint,
  last: TreeHead | null,
): WitnessDecision {
  if (oldSize > checkpoint.size) {
    return {
      status: 400,
      message: `The old size, ${oldSize}, is above the checkpoint's, ${checkpoint.size}: send a newer checkpoint.`,
    };
  }
  const older = last ?? { size: 0, root: emptyRoot() };
  if (oldSize !== older.size) return { status: 409, size: older.size };
  try {
    // Empty trees, equal sizes and proofs from nothing are settled there as C2SP says.
    verifyConsistency(older, checkpoint, consistency);
  } catch (error) {
    if (error instanceof TlogError) return { status: 422, message: error.message };
    throw error;
  }
  return { status: 200, checkpoint };
}
