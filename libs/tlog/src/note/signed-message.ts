import { parseCheckpoint } from '../checkpoint/checkpoint';
import { concatBytes, equalBytes, uint64Bytes } from '../encoding/bytes';
import { encodeUtf8 } from '../encoding/utf8';
import { TlogError } from '../errors';
import { emptyRoot } from '../tree/hashes';
import type { SignatureType } from './signature-types';

/** Maximum length of the names in an ML-DSA-44 message: their length is one byte. */
const MAX_NAME_BYTES = 255;
const SUBTREE_LABEL = 'subtree/v1\n\0';

/**
 * Returns the bytes that a key of this type signs for a note.
 *
 * - `ed25519`: the text (C2SP signed-note)
 * - `ed25519-cosignature`: a checkpoint's text below the lines `cosignature/v1` and `time …` (C2SP tlog-cosignature)
 * - `ml-dsa-44-cosignature`: the structure `cosigned_message` of the whole tree. It does not contain extension lines,
 *   so a checkpoint with extension lines is refused.
 *
 * @param time seconds since the epoch; unused for `ed25519`
 * @throws TlogError `malformed` if a key of this type cannot sign the text
 */
export function signedMessage(type: SignatureType, keyName: string, text: string, time: bigint): Uint8Array {
  switch (type) {
    case 'ed25519':
      return encodeUtf8(text);
    case 'ed25519-cosignature':
      parseCheckpoint(text);
      return encodeUtf8(`cosignature/v1\ntime ${time}\n${text}`);
    case 'ml-dsa-44-cosignature': {
      const { origin, size, root, extensionLines } = parseCheckpoint(text);
      if (extensionLines.length > 0) {
        throw new TlogError('malformed', 'ML-DSA-44 does not sign extension lines.');
      }
      if (size === 0 && !equalBytes(root, emptyRoot())) {
        throw new TlogError('malformed', 'The root of an empty tree is SHA-256 of nothing.');
      }
      return concatBytes(
        encodeUtf8(SUBTREE_LABEL),
        lengthPrefixed(keyName, 'key name'),
        uint64Bytes(time),
        lengthPrefixed(origin, 'origin'),
        uint64Bytes(0),
        uint64Bytes(size),
        root,
      );
    }
  }
}

function lengthPrefixed(text: string, what: string): Uint8Array {
  const bytes = encodeUtf8(text);
  if (bytes.length < 1 || bytes.length > MAX_NAME_BYTES) {
    throw new TlogError('malformed', `The ${what} has ${bytes.length} bytes: ML-DSA-44 signs 1 to ${MAX_NAME_BYTES}.`);
  }
  return concatBytes(Uint8Array.of(bytes.length), bytes);
}
