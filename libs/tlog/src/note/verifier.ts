import { readUint64 } from '../encoding/bytes';
import { TlogError } from '../errors';
import { parseVerifierKey, type VerifierKey } from './keys';
import type { NoteSignature } from './note';
import { webVerification, type SignatureCrypto } from './signature-crypto';
import { SIGNATURE_TYPES } from './signature-types';
import { signedMessage } from './signed-message';

/** Bytes of the time before a cosignature. */
export const TIME_SIZE = 8;
/** C2SP tlog-cosignature: the time must not exceed it. */
const MAX_TIME = 2n ** 63n - 1n;

/** Verifies what one key signed. */
export interface Verifier {
  readonly key: VerifierKey;
  /**
   * Whether the signature (a line's bytes after the key ID) is this key's over this text.
   *
   * @throws TlogError `unsupported_key` where the platform lacks the algorithm
   */
  verify(text: string, signature: Uint8Array): Promise<boolean>;
}

/**
 * A verifier for a verifier key (a text or parsed).
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

/** When a line that verified says it was made, in seconds since the epoch; null for a type without time. */
export function cosignatureTime(key: VerifierKey, { signature }: NoteSignature): number | null {
  return SIGNATURE_TYPES[key.type].timestamped ? Number(readUint64(signature)) : null;
}

/** A text that such a key does not sign has no valid signature of it. */
function messageOrNone(key: VerifierKey, text: string, time: bigint): Uint8Array | undefined {
  try {
    return signedMessage(key.type, key.name, text, time);
  } catch (error) {
    if (error instanceof TlogError) return undefined;
    throw error;
  }
}
