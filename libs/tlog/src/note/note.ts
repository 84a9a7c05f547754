import { concatBytes, readUint32, uint32Bytes } from '../encoding/bytes';
import { decodeBase64, encodeBase64 } from '../encoding/base64';
import { isWellFormed } from '../encoding/utf8';
import { TlogError } from '../errors';
import { MAX_NOTE_LENGTH, MAX_SIGNATURES } from '../limits';
import { requireKeyName } from './key-name';

/** Bytes of the key ID at the beginning of a signature. */
const KEY_ID_SIZE = 4;
const LINE_START = '— ';

/** One signature line of a note. Name and key ID identify the key and the algorithm. */
export interface NoteSignature {
  readonly name: string;
  /** A uint32. */
  readonly keyId: number;
  /** The bytes after the key ID: the signature, preceded by the time in a cosignature. */
  readonly signature: Uint8Array;
}

/** A parsed note (C2SP signed-note). Its signatures are not verified; `openNote` verifies them. */
export interface Note {
  /** Includes the final newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/**
 * Parses a note (C2SP signed-note "Format") with the limits of Go's `sumdb/note`. Inverse of `formatNote`.
 *
 * @throws TlogError `malformed`
 */
export function parseNote(note: string): Note {
  requireNoteCharacters(note);
  const split = note.lastIndexOf('\n\n');
  if (split < 0) throw malformed('it has no empty line between text and signatures');
  return { text: note.slice(0, split + 1), signatures: parseSignatureLines(note.slice(split + 2)) };
}

/**
 * Formats a note with its signatures in order.
 *
 * @throws TlogError `malformed` for a text that does not end in a newline or has a control character, and unless there
 *   are 1 to 100 signatures
 */
export function formatNote({ text, signatures }: Note): string {
  requireNoteText(text);
  return `${text}\n${formatSignatureLines(signatures)}`;
}

/**
 * Parses signature lines without a text, as in a witness's response (C2SP tlog-witness): 1 to 100 lines, each with a
 * final newline.
 *
 * @throws TlogError `malformed`
 */
export function parseSignatureLines(lines: string): NoteSignature[] {
  requireNoteCharacters(lines);
  if (!lines.endsWith('\n')) throw malformed('it has no signature line');
  const each = lines.slice(0, -1).split('\n', MAX_SIGNATURES + 1);
  if (each.length > MAX_SIGNATURES) throw malformed(`it has more than ${MAX_SIGNATURES} signatures`);
  return each.map(parseSignatureLine);
}

/**
 * Formats signature lines: an em dash, a space, the key's name, a space, base64 of key ID and signature, a newline.
 *
 * @throws TlogError `malformed`
 */
export function formatSignatureLines(signatures: readonly NoteSignature[]): string {
  if (signatures.length < 1 || signatures.length > MAX_SIGNATURES) {
    throw malformed(`it has ${signatures.length} signatures instead of 1 to ${MAX_SIGNATURES}`);
  }
  return signatures
    .map(({ name, keyId, signature }) => {
      requireKeyName(name);
      if (signature.length === 0) throw malformed('a signature is empty');
      return `${LINE_START}${name} ${encodeBase64(concatBytes(uint32Bytes(keyId), signature))}\n`;
    })
    .join('');
}

/** @throws TlogError `malformed` if a note cannot have this text */
export function requireNoteText(text: string): void {
  requireNoteCharacters(text);
  if (!text.endsWith('\n')) throw malformed('its text does not end in a newline');
}

function parseSignatureLine(line: string): NoteSignature {
  const [, name, base64] = /^— ([^ ]*) (.*)$/u.exec(line) ?? [];
  if (name === undefined || base64 === undefined) throw malformed('a signature line is not “— <key name> <base64>”');
  requireKeyName(name);
  const bytes = decodeBase64(base64, 'signature line');
  if (bytes.length <= KEY_ID_SIZE) throw malformed('a signature line has only a key ID');
  return { name, keyId: readUint32(bytes), signature: bytes.slice(KEY_ID_SIZE) };
}

function requireNoteCharacters(text: string): void {
  if (text.length > MAX_NOTE_LENGTH) throw malformed(`it has more than ${MAX_NOTE_LENGTH} characters`);
  if (!isWellFormed(text) || /[\u0000-\u0009\u000b-\u001f]/.test(text)) {
    throw malformed('it has a control character or a lone surrogate');
  }
}

function malformed(why: string): TlogError {
  return new TlogError('malformed', `Not a signed note: ${why}. Use the bytes as served.`);
}
