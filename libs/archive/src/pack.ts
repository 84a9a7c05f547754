import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/*
 * A pack is `ISSPACK1`, followed by sealed texts without gaps. The database knows the place of each. A sealed text is a nonce of 12
 * bytes, the encrypted zstd frame of the text, and the tag of 16 bytes (AES-256-GCM). Its key is HKDF-SHA-256 of a secret that only this
 * text has, so that destroying the secret erases the text in every copy of the pack.
 */

const START = Buffer.from('ISSPACK1');
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const PURPOSE = 'iss archived text v1';
/** The least buffer for the output of zstd. The default of 16 KiB costs more than the work on a text. */
const CHUNK_BYTES = 4096;

/** The place of a sealed text in its pack, in bytes. */
export interface PlaceInPack {
  offset: number;
  length: number;
}

/** Collects the texts of one pack. */
export class PackBuilder {
  private readonly parts: Uint8Array[] = [START];
  private length = START.length;

  /** The size of the pack so far. */
  get bytes(): number {
    return this.length;
  }

  /** Adds a sealed text. */
  add(sealed: Uint8Array): PlaceInPack {
    const place = { offset: this.length, length: sealed.length };
    this.parts.push(sealed);
    this.length += sealed.length;
    return place;
  }

  build(): Buffer {
    return Buffer.concat(this.parts);
  }
}

/** Compresses and encrypts a text. The nonce is random, because a text may be packed again by another version of zstd. */
export function sealText(text: string, secret: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(secret), nonce);
  const bytes = Buffer.from(text);
  const encrypted = cipher.update(
    zstdCompressSync(bytes, { pledgedSrcSize: bytes.length, chunkSize: Math.max(CHUNK_BYTES, bytes.length) }),
  );
  return Buffer.concat([nonce, encrypted, cipher.final(), cipher.getAuthTag()]);
}

/** Returns the text, or null if the bytes are not those that were sealed. */
export function openText(sealed: Buffer, secret: Uint8Array): string | null {
  if (sealed.length <= NONCE_BYTES + TAG_BYTES) return null;
  try {
    const decipher = createDecipheriv(CIPHER, keyOf(secret), sealed.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const frame = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    const whole = Buffer.concat([frame, decipher.final()]);
    // Most texts have at most four times the size of their frame.
    return zstdDecompressSync(whole, { chunkSize: Math.max(CHUNK_BYTES, 4 * whole.length) }).toString('utf8');
  } catch {
    return null;
  }
}

function keyOf(secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', PURPOSE, KEY_BYTES));
}
