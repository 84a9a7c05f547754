import type { Checkpoint } from '../checkpoint/checkpoint';
import { TlogError } from '../errors';
import { openNote } from '../note/open-note';
import type { Verifier } from '../note/verifier';
import { emptyRoot } from '../tree/hashes';
import { verifyConsistency, type TreeHead } from '../tree/verify';
import type { ParsedAddCheckpoint } from './add-checkpoint';

/** A witness's refusal: the status, and what to do as the body. The body of a 409 is the size instead. */
export type WitnessRefusal =
  | { readonly status: 400 | 403 | 404 | 422; readonly message: string }
  | { readonly status: 409; readonly size: number };

/** A witness's decision: it cosigns or refuses. */
export type WitnessDecision = { readonly status: 200; readonly checkpoint: Checkpoint } | WitnessRefusal;

/**
 * Makes the checks that need no state: 404 for an origin without keys, and 403 if none of the keys signed or one of
 * their lines does not verify. Returns null if both pass.
 *
 * @param logKeys the keys that the witness trusts for an origin; empty for an unknown one
 * @throws TlogError `unsupported_key` or `ambiguous_key` for an error in the witness's configuration
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
 * Compares a request with the checkpoint that the witness cosigned last, in the order of C2SP tlog-witness:
 *
 * - 400 if the old size is above the checkpoint's;
 * - 409 if the old size is not that of the last checkpoint;
 * - 422 if root or proof do not verify.
 *
 * The request must have passed `refuseUnauthentic`.
 *
 * The function is synchronous, so that a witness can check and store a checkpoint before it processes another one of
 * the same log. It must respond with 200 only after that.
 *
 * @param last the checkpoint of this origin that it cosigned last; null if there is none
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
    // Also handles empty trees, equal sizes and proofs from an empty tree as C2SP specifies.
    verifyConsistency(older, checkpoint, consistency);
  } catch (error) {
    if (error instanceof TlogError) return { status: 422, message: error.message };
    throw error;
  }
  return { status: 200, checkpoint };
}
