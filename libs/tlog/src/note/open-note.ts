import { encodeBase64 } from '../encoding/base64';
import { TlogError } from '../errors';
import { isSameKey, keyLabel, type VerifierKey } from './keys';
import { parseNote, type NoteSignature } from './note';
import { cosignatureTime, type Verifier } from './verifier';

/** A verified line of a known key. */
export interface VerifiedSignature extends NoteSignature {
  readonly key: VerifierKey;
  /** The signing time that the signer claims, in seconds since the epoch. Null for a type without time. */
  readonly time: number | null;
}

/** A note that at least one known key signed. */
export interface OpenedNote {
  readonly text: string;
  /** One line for each known key that signed, in the note's order. If a key has several lines, this is the first. */
  readonly verified: readonly VerifiedSignature[];
  /** The lines of unknown keys, which are not verified. */
  readonly unknown: readonly NoteSignature[];
}

/**
 * Parses a note and verifies every line of a known key (C2SP signed-note "Signatures"). Lines are matched to keys by
 * name and key ID, and other lines are skipped. Repeated lines count once. If a key has several different lines, each
 * must verify.
 *
 * @throws TlogError `malformed`; `unsigned` if no known key signed; `bad_signature` if a line of a known key does not
 *   verify; `ambiguous_key` if two known keys match a line; `unsupported_key` if the platform lacks an algorithm
 */
export async function openNote(note: string, verifiers: readonly Verifier[]): Promise<OpenedNote> {
  const { text, signatures } = parseNote(note);
  const byLabel = verifiersByLabel(verifiers);
  const verified = new Map<string, VerifiedSignature>();
  const unknown: NoteSignature[] = [];
  for (const line of withoutRepetitions(signatures)) {
    const label = keyLabel(line);
    const [verifier, ...others] = byLabel.get(label) ?? [];
    if (verifier === undefined) {
      unknown.push(line);
      continue;
    }
    if (others.length > 0) {
      throw new TlogError('ambiguous_key', `Two known keys are ${label}: remove one.`);
    }
    if (!(await verifier.verify(text, line.signature))) {
      throw new TlogError('bad_signature', `A signature of ${label} does not verify.`);
    }
    if (!verified.has(label))
      verified.set(label, { ...line, key: verifier.key, time: cosignatureTime(verifier.key, line) });
  }
  if (verified.size === 0) {
    throw new TlogError('unsigned', `No known key signed the note: add its signer's key if you trust it.`);
  }
  return { text, verified: [...verified.values()], unknown };
}

/** Groups verifiers by key label. A repeated key counts once. */
function verifiersByLabel(verifiers: readonly Verifier[]): Map<string, Verifier[]> {
  const byLabel = new Map<string, Verifier[]>();
  for (const verifier of verifiers) {
    const label = keyLabel(verifier.key);
    const before = byLabel.get(label) ?? [];
    if (!before.some(({ key }) => isSameKey(key, verifier.key))) byLabel.set(label, [...before, verifier]);
  }
  return byLabel;
}

function withoutRepetitions(lines: readonly NoteSignature[]): NoteSignature[] {
  const byText = new Map(lines.map((line) => [`${keyLabel(line)} ${encodeBase64(line.signature)}`, line]));
  return [...byText.values()];
}
