import type { JsonObject } from '@iss/domain/pure';
import { Members, VerificationError, type VerificationFailure } from '@iss/proof';
import { type MapTrust, verifyMapAnswer } from '@iss/proof/complete';

/** A failed check. */
export interface MapFault {
  readonly failure: VerificationFailure;
  readonly message: string;
}

/**
 * Verifies an answer that uses the map, for the whole log of its checkpoint. Returns a refusal, because this file is loaded on its own: its
 * error classes are not those of the main file.
 */
export async function refusalOf(answer: JsonObject, trust: MapTrust): Promise<MapFault | null> {
  try {
    const { verified, json } = await verifyMapAnswer(Members.of('The proof', answer), trust);
    const { as_of_size: size = verified.checkpoint.size } = json;
    if (size === verified.checkpoint.size) return null;
    return { failure: 'not_newest', message: `The proof is only about the first ${String(size)} entries.` };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const { failure, message } = error;
    return { failure, message };
  }
}
