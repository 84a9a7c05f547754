import { hash } from 'node:crypto';

const BLOCK = 64;
/** Bytes of a result that are used. */
const START = 16;

/**
 * Computes many HMAC-SHA-256 (RFC 2104) with one key. This takes a third of the time of a separate `Hmac` of
 * `node:crypto` for each text.
 */
export class Hmac {
  private inner: Buffer;
  private readonly outer: Buffer;

  /** `key` has at most 64 bytes. */
  constructor(key: Uint8Array) {
    if (key.length > BLOCK) throw new Error('the key is longer than a block');
    const padded = Buffer.alloc(BLOCK);
    padded.set(key);
    this.inner = Buffer.alloc(4 * BLOCK);
    this.inner.set(padded.map((byte) => byte ^ 0x36));
    this.outer = Buffer.alloc(BLOCK + 32);
    this.outer.set(padded.map((byte) => byte ^ 0x5c));
  }

  /** Returns the first 16 bytes of the HMAC of a text in base64url. */
  start(text: string): string {
    const most = BLOCK + 3 * text.length;
    if (this.inner.length < most) this.inner = Buffer.concat([this.inner.subarray(0, BLOCK)], most);
    const length = BLOCK + this.inner.write(text, BLOCK);
    this.outer.write(hash('sha256', this.inner.subarray(0, length), 'latin1'), BLOCK, 'latin1');
    return Buffer.from(hash('sha256', this.outer, 'latin1').slice(0, START), 'latin1').toString('base64url');
  }
}
