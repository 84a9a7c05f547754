import { hash } from 'node:crypto';
import { openTexts, type PlaceInPack, sealText } from '@iss/archive';

/** A text to seal, and the hash that it must have. */
export interface TextToSeal {
  readonly text: string;
  readonly envelopeHash: string;
  readonly secret: Uint8Array;
}

/** A text in a pack that was read back. */
export interface SealedText extends PlaceInPack {
  readonly secret: Uint8Array;
}

/** Work on some texts of a pack. The places are relative to `bytes`. */
export type PackOrder =
  | { readonly work: 'seal'; readonly texts: readonly TextToSeal[] }
  | { readonly work: 'verify'; readonly bytes: Uint8Array; readonly texts: readonly SealedText[] };

/** One result for each text, without gaps: the sealed text, or the hash of the opened one. A damaged text has an empty result. */
export interface PackReport {
  readonly bytes: Uint8Array;
  readonly lengths: readonly number[];
}

const DAMAGED = Buffer.alloc(0);

export function runPackOrder(order: PackOrder): PackReport {
  const results = order.work === 'seal' ? order.texts.map(seal) : hashesOf(order.bytes, order.texts);
  return { bytes: Buffer.concat(results), lengths: results.map(({ length }) => length) };
}

function seal({ text, envelopeHash, secret }: TextToSeal): Buffer {
  return hashOf(text).toString('hex') === envelopeHash ? sealText(text, secret) : DAMAGED;
}

function hashesOf(bytes: Uint8Array, texts: readonly SealedText[]): Buffer[] {
  const pack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sealed = texts.map(({ offset, length, secret }) => ({
    sealed: pack.subarray(offset, offset + length),
    secret,
  }));
  return openTexts(sealed).map(([, text]) => (text === null ? DAMAGED : hashOf(text)));
}

function hashOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
