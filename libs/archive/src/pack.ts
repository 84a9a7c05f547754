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
// Node converts strings to bytes for each key, which costs a third of a derivation.
const [NO_SALT, PURPOSE] = [Buffer.alloc(0), Buffer.from('iss archived text v1')];
/** The least buffer for the output of zstd. The default of 16 KiB costs more than the work on a text. */
const CHUNK_BYTES = 4096;
/** The size of a frame's dictionary id, by its flag (RFC 8878, section 3.1.1.1.1.6). */
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];

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

/** A sealed text, and the secret that opens it. */
export interface SealedText {
  readonly sealed: Buffer;
  readonly secret: Uint8Array;
}

/** Returns the text, or null if the bytes are not those that were sealed. */
export function openText(sealed: Buffer, secret: Uint8Array): string | null {
  return contentsOf([decrypt({ sealed, secret })])[0] ?? null;
}

/**
 * Opens texts, and returns null for each whose bytes are not those that were sealed. It decompresses all frames in one call, because a
 * call costs ten times as much as the work on a small frame.
 */
export function openTexts<T extends SealedText>(texts: readonly T[]): [sealed: T, text: string | null][] {
  const opened = contentsOf(texts.map(decrypt));
  return texts.map((text, index) => [text, opened[index] ?? null]);
}

/** Returns the contents of frames, null for null and for a frame that cannot be decompressed. */
function contentsOf(frames: readonly (Buffer | null)[]): (string | null)[] {
  return contentsAtOnce(frames) ?? frames.map((frame) => frame && contentOf(frame));
}

/**
 * Returns null unless all frames have exactly the sizes that they state. The first version of this format stated none. An intruder who
 * has the secret of a text could also seal other bytes, which must not damage its neighbours.
 */
function contentsAtOnce(frames: readonly (Buffer | null)[]): (string | null)[] | null {
  const intact = frames.filter((frame) => frame !== null);
  if (intact.length < 2) return null;
  try {
    const sizes = intact.map(sizeOfContent);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const contents = decompress(Buffer.concat(intact), total + 1);
    if (contents.length !== total) return null;
    let end = 0;
    return frames.map((frame) => {
      if (frame === null) return null;
      const start = end;
      end += sizes.shift() ?? 0;
      return contents.toString('utf8', start, end);
    });
  } catch {
    return null;
  }
}

function contentOf(frame: Buffer): string | null {
  try {
    // Most texts have at most four times the size of their frame.
    return decompress(frame, 4 * frame.length).toString('utf8');
  } catch {
    return null;
  }
}

/** Returns the contents of frames, one after the other. `sizeHint` is a guess of their size in bytes. */
function decompress(frames: Buffer, sizeHint: number): Buffer {
  return zstdDecompressSync(frames, { chunkSize: Math.max(CHUNK_BYTES, sizeHint) });
}

/** Returns the zstd frame of a text. Null if the bytes are not those that were sealed. */
function decrypt({ sealed, secret }: SealedText): Buffer | null {
  if (sealed.length <= NONCE_BYTES + TAG_BYTES) return null;
  try {
    const decipher = createDecipheriv(CIPHER, keyOf(secret), sealed.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const frame = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    // GCM has no bytes left. This checks the tag.
    decipher.final();
    return frame;
  } catch {
    return null;
  }
}

/** Returns the size of a frame's content in bytes (RFC 8878, section 3.1.1.1). Throws if the frame does not state it. */
function sizeOfContent(frame: Buffer): number {
  const descriptor = frame.readUInt8(4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const start = 5 + (isSingleSegment ? 0 : 1) + (DICTIONARY_ID_BYTES[descriptor & 3] ?? 0);
  switch (descriptor >> 6) {
    case 0:
      if (isSingleSegment) return frame.readUInt8(start);
      throw new Error('The frame does not state its size');
    case 1:
      return frame.readUInt16LE(start) + 256;
    case 2:
      return frame.readUInt32LE(start);
    default:
      return Number(frame.readBigUInt64LE(start));
  }
}

function keyOf(secret: Uint8Array): DataView {
  return new DataView(hkdfSync('sha256', secret, NO_SALT, PURPOSE, KEY_BYTES));
}
