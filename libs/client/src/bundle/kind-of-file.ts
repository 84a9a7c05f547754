import { UnreadableError } from './errors.ts';
import { Members } from './members.ts';

/** Enough for the largest envelope that a deployment can allow, escaped and with its proof. */
export const MAX_LINE_BYTES = 64_000_000;
export const MAX_ENTRY_LENGTH = 1_000_000;

const PROOF_START = 'c2sp.org/tlog-proof@';

/** A bundle (NDJSON), a proof file of one entry (C2SP tlog-proof), or a JSON answer of `…/log-proof`. */
export type KindOfFile = 'bundle' | 'proof' | 'answer';

/** Returns the kind of a file by its first line. @throws UnreadableError if the line is empty or not JSON */
export function kindOfFile(firstLine: Uint8Array): KindOfFile {
  if (firstLine.length === 0) throw new UnreadableError('The file is empty.');
  const start = String.fromCharCode(...firstLine.subarray(0, PROOF_START.length));
  if (start === PROOF_START) return 'proof';
  return isWholeObject(firstLine) && Members.parse('The first line', firstLine).has('bundle') ? 'bundle' : 'answer';
}

/** Returns whether the line looks like a complete JSON object. A multi-line JSON text does not. */
function isWholeObject(line: Uint8Array): boolean {
  return line[0] === 0x7b && line[line.length - 1] === 0x7d;
}
