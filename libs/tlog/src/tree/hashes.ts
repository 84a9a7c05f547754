import { encodeUtf8, isWellFormed } from '../encoding/utf8';
import { TlogError } from '../errors';
import { HASH_SIZE, sha256 } from '../hash/sha256';

const LEAF_PREFIX = 0x00;
const NODE_PREFIX = 0x01;

// Filled and hashed within one call.
const nodeMessage = new Uint8Array(1 + 2 * HASH_SIZE);

/**
 * Returns the hash of a leaf (RFC 6962 section 2.1): SHA-256(0x00 ‖ entry). A text is encoded as UTF-8.
 *
 * @throws TlogError `malformed` for a text with a lone surrogate, which has no UTF-8 form
 */
export function leafHash(entry: string | Uint8Array): Uint8Array {
  if (typeof entry === 'string' && !isWellFormed(entry)) {
    throw new TlogError('malformed', 'The entry has a lone surrogate.');
  }
  const bytes = typeof entry === 'string' ? encodeUtf8(entry) : entry;
  const message = new Uint8Array(1 + bytes.length);
  message[0] = LEAF_PREFIX;
  message.set(bytes, 1);
  return sha256(message);
}

/**
 * Returns the hash of an inner node (RFC 6962 section 2.1): SHA-256(0x01 ‖ left ‖ right).
 *
 * @throws TlogError `malformed` unless both are hashes of 32 bytes
 */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  requireHash(left, 'hash of a node');
  requireHash(right, 'hash of a node');
  nodeMessage[0] = NODE_PREFIX;
  nodeMessage.set(left, 1);
  nodeMessage.set(right, 1 + HASH_SIZE);
  return sha256(nodeMessage);
}

/** Returns the root of the tree without leaves (RFC 6962 section 2.1): SHA-256 of the empty string. */
export function emptyRoot(): Uint8Array {
  return sha256(new Uint8Array(0));
}

/** @throws TlogError `malformed`, naming `what`, unless it has the length of a hash */
export function requireHash(hash: Uint8Array, what: string): void {
  if (hash.length === HASH_SIZE) return;
  throw new TlogError('malformed', `The ${what} is not a SHA-256 hash: give ${HASH_SIZE} bytes.`);
}
