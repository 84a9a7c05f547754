import { hash } from 'node:crypto';
import { canonicalize } from '../json/canonicalize';
import type { JsonObject } from '../json/value';

/** The labels of the specification ("What the service does", general rules). */
export const CANONICALIZATION_METHOD = 'json-canonicalize-rfc8785';
export const HASH_ALGORITHM = 'sha-256';

/**
 * An envelope as it is stored and returned: its RFC 8785 text, and the lowercase hex SHA-256 of the text's UTF-8 bytes.
 */
export interface Sealed {
  text: string;
  hash: string;
}

/** Seals an envelope. Equal JSON values give the same text and hash, regardless of the order of their members. */
export function seal(envelope: JsonObject): Sealed {
  const text = canonicalize(envelope);
  return { text, hash: hashText(text) };
}

/** Returns the lowercase hex SHA-256 (64 characters) of a text's UTF-8 bytes. */
export function hashText(text: string): string {
  return hash('sha256', text, 'hex');
}
