import { UnreadableError } from './errors.ts';
import { Members } from './members.ts';

/** Bytes of a line: an envelope of the largest size that any deployment takes, escaped, with its proof. */
export const MAX_LINE_BYTES = 64_000_000;
export const MAX_ENTRY_LENGTH = 1_000_000;

const PROOF_START = 'c2sp.org/tlog-proof@';

/** A bundle (NDJSON), a proof of one entry as a file (C2SP tlog-proof), or the same as `…/log-proof` answers it in JSON. */
export type KindOfFile = 'bundle' | 'proof' | 'answer';

/** What a file seems to be, by its first line. @throws UnreadableError for an empty one, and for a line that is no JSON */
export function kindOfFile(firstLine: Uint8Array): KindOfFile {
  if (firstLine.length === 0) throw new UnreadableError('There is nothing in it.');
  const start = String.fromCharCode(...firstLine.subarray(0, PROOF_START.length));
  if (start === PROOF_START) return 'proof';
  return isWholeObject(firstLine) && Members.parse('The first line', firstLine).has('bundle') ? 'bundle' : 'answer';
}

/** A JSON text over several lines begins with one that is not whole. */
function isWholeObject(line: Uint8Array): boolean {
  return line[0] === 0x7b && line[line.length - 1] === 0x7d;
}
