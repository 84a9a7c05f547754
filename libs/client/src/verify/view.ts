import { isJsonObject, type JsonObject } from '@iss/domain/pure';
import { type BundleLine, Members, requireEntry, VerificationError } from '@iss/proof';
import { readPartialSnapshot, readViewProof, requireLoggedView, requirePartialContent } from '@iss/proof/view';
import type { Checkpoint } from '@iss/tlog';
import type { MapFault } from './map.ts';

/**
 * Verifies that a partial snapshot shows what its view discloses. Returns a refusal, because this file is loaded on its own: its error
 * classes are not those of the main file.
 */
export function refusalOfPart(snapshot: JsonObject): MapFault | null {
  return refusalOf((where, members) => requirePartialContent(where, readPartialSnapshot(members)), snapshot);
}

/** Verifies that the log names the view of a partial snapshot. The entry of its version is proved. */
export function refusalOfView(
  snapshot: JsonObject,
  { entry = '', keys, ...line }: BundleLine,
  checkpoint: Checkpoint,
): MapFault | null {
  return refusalOf((where, members) => {
    const partial = readPartialSnapshot(members);
    const proof: unknown = line;
    requireLoggedView(where, {
      view: requirePartialContent(where, partial),
      entry: requireEntry(`${where} the entry`, { entry, keys }, {}),
      own: isJsonObject(proof) ? readViewProof(Members.of('The proof', proof)) : null,
      snapshot: partial,
      checkpoint,
    });
  }, snapshot);
}

function refusalOf(check: (where: string, members: Members) => unknown, snapshot: JsonObject): MapFault | null {
  try {
    check(`Version ${JSON.stringify(snapshot['snapshot_version'])}:`, Members.of('The snapshot', snapshot));
    return null;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const { failure, message } = error;
    return { failure, message };
  }
}
