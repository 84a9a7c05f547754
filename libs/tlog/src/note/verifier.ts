import { readUint64 } from '../encoding/bytes';
import { TlogError } from '../errors';
import { parseVerifierKey, type VerifierKey } from './keys';
import type { NoteSignature } from './note';
import { webVerification, type SignatureCrypto } from './signature-crypto';
import { SIGNATURE_TYPES } from './signature-types';
import { signedMessage } from './signed-message';

/** Bytes of the time before a cosignature. */
export const TIME_SIZE = 8;
/** The largest time in C2SP tlog-cosignature. */
const MAX_TIME = 2n ** 63n - 1n;

/** Verifies signatures of one key. */
export interface Verifier {
  readonly key: VerifierKey;
  /**
   * Verifies the key's signature of a text. `signature` is the part of a line after the key ID.
   *
   * @throws TlogError `unsupported_key` if the platform lacks the algorithm
   */
  verify(text: string, signature: Uint8Array): Promise<boolean>;
}

/**
 * Creates a verifier from a verifier key (a text or parsed).
 *
 * @throws TlogError as `parseVerifierKey`
 */
export function createVerifier(
  vkey: string | VerifierKey,
  signatures: Pick<SignatureCrypto, 'verify'> = webVerification,
): Verifier {
  const key = typeof vkey === 'string' ? parseVerifierKey(vkey) : vkey;
  const { algorithm, timestamped, signatureSize } = SIGNATURE_TYPES[key.type];
  const timeSize = timestamped ? TIME_SIZE : 0;
  return {
    key,
    async verify(text, signature) {
      if (signature.length !== timeSize + signatureSize) return false;
      const time = timestamped ? readUint64(signature) : 0n;
      const message = time > MAX_TIME ? undefined : messageOrNone(key, text, time);
      if (message === undefined) return false;
      return signatures.verify(algorithm, key.publicKey, message, signature.subarray(timeSize));
    },
  };
}

/** Returns the claimed time of a verified line, in seconds since the epoch; null for a type without time. */
export function cosignatureTime(key: VerifierKey, { signature }: NoteSignature): number | null {
  return SIGNATURE_TYPES[key.type].timestamped ? Number(readUint64(signature)) : null;
}

/** Returns undefined if a key of this type cannot sign the text, so that no signature of it is valid. */
function messageOrNone(key: VerifierKey, text: string, time: bigint): Uint8Array | undefined {
  try {
    return signedMessage(key.type, key.name, text, time);
  } catch (error) {
    if (error instanceof TlogError) return undefined;
    throw error;
  }
}
