import { concatBytes, uint64Bytes } from '../encoding/bytes';
import { requireInteger } from '../encoding/decimal';
import { TlogError } from '../errors';
import { formatVerifierKey, keyIdOf, keyLabel, parseSigningKey, type VerifierKey } from './keys';
import { formatNote, requireNoteText, type Note, type NoteSignature } from './note';
import { webCrypto, type SignatureCrypto } from './signature-crypto';
import { SIGNATURE_TYPES } from './signature-types';
import { signedMessage } from './signed-message';

/** Signs with one key. */
export interface Signer {
  readonly key: VerifierKey;
  /** The text of the verifier key, to be published. */
  readonly verifierKey: string;
  /**
   * Signs a text and returns the key's line.
   *
   * @param time seconds since the epoch, stated in a cosignature; unused for `ed25519`
   * @throws TlogError `malformed` if a key of this type cannot sign the text
   */
  sign(text: string, time: number): Promise<NoteSignature>;
}

/**
 * Creates a signer from the text of a signing key.
 *
 * @throws TlogError as `parseSigningKey`; `malformed` also if the key ID does not belong to the public key
 */
export async function createSigner(skey: string, signatures: SignatureCrypto = webCrypto): Promise<Signer> {
  const { name, keyId, type, seed } = parseSigningKey(skey);
  const { algorithm, timestamped } = SIGNATURE_TYPES[type];
  const publicKey = await signatures.publicKey(algorithm, seed);
  if (keyIdOf(name, type, publicKey) !== keyId) {
    throw new TlogError('malformed', `The signing key's ID is not that of ${name} and its public key: copy it whole.`);
  }
  const key: VerifierKey = { name, keyId, type, publicKey };
  return {
    key,
    verifierKey: formatVerifierKey(key),
    async sign(text, time) {
      requireNoteText(text);
      requireInteger(time, 'time of signing', 0, Number.MAX_SAFE_INTEGER);
      const signature = await signatures.sign(algorithm, seed, signedMessage(type, name, text, BigInt(time)));
      return { name, keyId, signature: timestamped ? concatBytes(uint64Bytes(time), signature) : signature };
    },
  };
}

/**
 * Signs a note and formats it. Existing lines come first, except those of the same keys, then the signers' lines in
 * their order.
 *
 * @param time seconds since the epoch
 * @throws TlogError `malformed`; `ambiguous_key` for two signers with the same name and key ID
 */
export async function signNote(
  { text, signatures }: Pick<Note, 'text'> & Partial<Note>,
  signers: readonly Signer[],
  time: number,
): Promise<string> {
  const labels = new Set(signers.map(({ key }) => keyLabel(key)));
  if (labels.size !== signers.length) {
    throw new TlogError('ambiguous_key', 'Two signers have one name and key ID: sign with each key once.');
  }
  const kept = (signatures ?? []).filter((line) => !labels.has(keyLabel(line)));
  const added = await Promise.all(signers.map(async (signer) => signer.sign(text, time)));
  return formatNote({ text, signatures: [...kept, ...added] });
}
