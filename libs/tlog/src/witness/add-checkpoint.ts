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

/** A request that a witness cosign a checkpoint, C2SP tlog-witness "add-checkpoint". */
export interface AddCheckpointRequest {
  /** The size of the checkpoint that the witness cosigned last, as the log believes; 0 for none. */
  readonly oldSize: number;
  /** From that tree to the checkpoint's. */
  readonly consistency: readonly Uint8Array[];
  /** The note of the checkpoint, as the log signed it. */
  readonly note: string;
}

/** A request with what its note says; its signatures are not verified yet. */
export interface ParsedAddCheckpoint extends AddCheckpointRequest {
  readonly checkpoint: Checkpoint;
}

/**
 * Parses the body of an add-checkpoint request. A witness answers 400 to one that does not parse.
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
 * The body of an add-checkpoint request.
 *
 * @throws TlogError `malformed` or `out_of_range` for what no request can hold
 */
export function formatAddCheckpoint({ oldSize, consistency, note }: AddCheckpointRequest): string {
  requireInteger(oldSize, 'old size', 0, Number.MAX_SAFE_INTEGER);
  if (consistency.length > MAX_PROOF_HASHES) throw malformed(`it has more than ${MAX_PROOF_HASHES} lines of proof`);
  for (const hash of consistency) requireHash(hash, 'hash of the consistency proof');
  parseCheckpoint(parseNote(note).text);
  return `${[OLD_SIZE + oldSize, ...consistency.map(encodeBase64)].join('\n')}\n\n${note}`;
}

/** The body of a 409: the size that the witness cosigned last. */
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
  if (!body.endsWith('\n')) throw new TlogError('malformed', 'The tree size that the witness answers has no newline.');
  return parseDecimal(body.slice(0, -1), 'tree size that the witness answers');
}

/** The path of a log's newest cosigned checkpoint below a witness's monitoring prefix. */
export function witnessedCheckpointPath(origin: string): string {
  if (origin === '' || !isWellFormed(origin)) {
    throw new TlogError(
      'malformed',
      'The origin of a log is not empty and well-formed: take the first line of its checkpoint.',
    );
  }
  return `${toHex(sha256(encodeUtf8(origin)))}/checkpoint`;
}

function malformed(why: string): TlogError {
  return new TlogError('malformed', `That is no add-checkpoint request (C2SP tlog-witness): ${why}.`);
}
