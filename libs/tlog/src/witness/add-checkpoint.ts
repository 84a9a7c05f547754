import { parseCheckpoint, type Checkpoint } from '../checkpoint/checkpoint';
import { decodeHash, encodeBase64 } from '../encoding/base64';
import { toHex } from '../encoding/bytes';
import { parseDecimal, requireInteger } from '../encoding/decimal';
import { encodeUtf8, isWellFormed } from '../encoding/utf8';
import { TlogError } from '../errors';
import { sha256 } from '../hash/sha256';
import { MAX_PROOF_HASHES } from '../limits';
import { parseNote } from '../note/note';
import { requireHash } from '../tree/hashes';

const OLD_SIZE = 'old ';
/** Characters before the checkpoint: the old size and 63 hashes. */
const MAX_HEAD_LENGTH = 4096;

/** The content type of a witness's 409, whose body is the size that it cosigned last. */
export const TREE_SIZE_CONTENT_TYPE = 'text/x.tlog.size';

/** A request to a witness to cosign a checkpoint (C2SP tlog-witness "add-checkpoint"). */
export interface AddCheckpointRequest {
  /** The size that the witness cosigned last, according to the log; 0 for none. */
  readonly oldSize: number;
  /** The proof from the tree of `oldSize` to that of the checkpoint. */
  readonly consistency: readonly Uint8Array[];
  /** The note of the checkpoint, signed by the log. */
  readonly note: string;
}

/** A request with its parsed checkpoint. The signatures are not verified yet. */
export interface ParsedAddCheckpoint extends AddCheckpointRequest {
  readonly checkpoint: Checkpoint;
}

/**
 * Parses the body of an add-checkpoint request. If parsing fails, the witness responds with 400.
 *
 * @throws TlogError `malformed` or `out_of_range`
 */
export function parseAddCheckpoint(body: string): ParsedAddCheckpoint {
  const split = body.slice(0, MAX_HEAD_LENGTH).indexOf('\n\n');
  if (split < 0) throw malformed('no empty line ends the consistency proof');
  const [old = '', ...hashes] = body.slice(0, split).split('\n');
  if (!old.startsWith(OLD_SIZE)) throw malformed('it does not begin with “old <size>”');
  if (hashes.length > MAX_PROOF_HASHES) throw malformed(`it has more than ${MAX_PROOF_HASHES} lines of proof`);
  const note = body.slice(split + 2);
  return {
    oldSize: parseDecimal(old.slice(OLD_SIZE.length), 'old size'),
    consistency: hashes.map((line) => decodeHash(line, 'hash of the consistency proof')),
    note,
    checkpoint: parseCheckpoint(parseNote(note).text),
  };
}

/**
 * Formats the body of an add-checkpoint request.
 *
 * @throws TlogError `malformed` or `out_of_range` for values that a request cannot contain
 */
export function formatAddCheckpoint({ oldSize, consistency, note }: AddCheckpointRequest): string {
  requireInteger(oldSize, 'old size', 0, Number.MAX_SAFE_INTEGER);
  if (consistency.length > MAX_PROOF_HASHES) throw malformed(`it has more than ${MAX_PROOF_HASHES} lines of proof`);
  for (const hash of consistency) requireHash(hash, 'hash of the consistency proof');
  parseCheckpoint(parseNote(note).text);
  return `${[OLD_SIZE + oldSize, ...consistency.map(encodeBase64)].join('\n')}\n\n${note}`;
}

/** Formats the body of a 409: the size that the witness cosigned last. */
export function formatTreeSize(size: number): string {
  requireInteger(size, 'tree size', 0, Number.MAX_SAFE_INTEGER);
  return `${size}\n`;
}

/**
 * Parses the body of a 409.
 *
 * @throws TlogError `malformed` or `out_of_range`
 */
export function parseTreeSize(body: string): number {
  if (!body.endsWith('\n')) throw new TlogError('malformed', 'The tree size from the witness has no newline.');
  return parseDecimal(body.slice(0, -1), 'tree size from the witness');
}

/** Returns the path of a log's newest cosigned checkpoint below a witness's monitoring prefix. */
export function witnessedCheckpointPath(origin: string): string {
  if (origin === '' || !isWellFormed(origin)) {
    throw new TlogError(
      'malformed',
      'The origin of a log is empty or malformed: use the first line of its checkpoint.',
    );
  }
  return `${toHex(sha256(encodeUtf8(origin)))}/checkpoint`;
}

function malformed(why: string): TlogError {
  return new TlogError('malformed', `Not an add-checkpoint request (C2SP tlog-witness): ${why}.`);
}
