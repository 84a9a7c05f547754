import { decodeBase64, decodeHash, encodeBase64 } from '../encoding/base64';
import { parseDecimal, requireInteger } from '../encoding/decimal';
import { TlogError } from '../errors';
import { MAX_PROOF_HASHES, MAX_PROOF_LENGTH } from '../limits';
import type { SignatureCrypto } from '../note/signature-crypto';
import { parseNote } from '../note/note';
import { parseCheckpoint } from '../checkpoint/checkpoint';
import type { Policy } from '../policy/policy';
import { verifyCheckpoint, type VerifiedCheckpoint } from '../policy/verify-checkpoint';
import { requireHash } from '../tree/hashes';
import { verifyInclusion } from '../tree/verify';

const HEADER = 'c2sp.org/tlog-proof@v1';
const EXTRA = 'extra ';
const INDEX = 'index ';

/** A parsed proof that an entry is in a log (C2SP tlog-proof). `verifyLogProof` verifies it. */
export interface LogProof {
  /** Opaque data; this service puts the entry here. It is unproved until its hash is compared. Null if absent. */
  readonly extra: Uint8Array | null;
  readonly index: number;
  /** The hashes from the leaf's sibling to the root's child. */
  readonly inclusion: readonly Uint8Array[];
  /** The note as it was served. */
  readonly checkpoint: string;
}

/**
 * Parses a proof file (`.tlog-proof`, C2SP tlog-proof "Format"). Inverse of `formatLogProof`.
 *
 * @throws TlogError `malformed` or `out_of_range`
 */
export function parseLogProof(text: string): LogProof {
  if (text.length > MAX_PROOF_LENGTH) throw malformed(`it has more than ${MAX_PROOF_LENGTH} characters`);
  const split = text.indexOf('\n\n');
  if (split < 0) throw malformed('it has no empty line before the checkpoint');
  const [header, ...lines] = text.slice(0, split).split('\n', MAX_PROOF_HASHES + 4);
  if (header !== HEADER) throw malformed(`its first line is not ${HEADER}`);
  const extra = lines[0]?.startsWith(EXTRA) === true ? lines.shift()!.slice(EXTRA.length) : null;
  const index = lines.shift();
  if (index?.startsWith(INDEX) !== true) throw malformed('it has no index line');
  if (lines.length > MAX_PROOF_HASHES) throw malformed(`it has more than ${MAX_PROOF_HASHES} hashes`);
  const checkpoint = text.slice(split + 2);
  requireCheckpointNote(checkpoint);
  return {
    extra: extra === null ? null : decodeBase64(extra, 'extra data of the proof'),
    index: parseDecimal(index.slice(INDEX.length), 'index of the proof'),
    inclusion: lines.map((line) => decodeHash(line, 'hash of the inclusion proof')),
    checkpoint,
  };
}

/**
 * Formats a proof file.
 *
 * @throws TlogError `malformed` or `out_of_range` for values that a proof cannot contain
 */
export function formatLogProof({ extra, index, inclusion, checkpoint }: LogProof): string {
  requireInteger(index, 'index of the proof', 0, Number.MAX_SAFE_INTEGER);
  if (inclusion.length > MAX_PROOF_HASHES) throw malformed(`it has more than ${MAX_PROOF_HASHES} hashes`);
  for (const hash of inclusion) requireHash(hash, 'hash of the inclusion proof');
  requireCheckpointNote(checkpoint);
  const lines = [
    HEADER,
    ...(extra === null ? [] : [EXTRA + encodeBase64(extra)]),
    INDEX + index,
    ...inclusion.map(encodeBase64),
  ];
  return `${lines.join('\n')}\n\n${checkpoint}`;
}

/**
 * Verifies a proof offline: the checkpoint is valid under the policy, and the leaf with this hash is at the proof's
 * index in the tree (C2SP tlog-proof "Verifying a tlog proof"). `leaf` is the `leafHash` of the entry, which the caller
 * must have computed. If the entry is the proof's `extra`, this also proves `extra`.
 *
 * @throws TlogError `proof_refused` or `out_of_range` if the leaf is not there; else as `verifyCheckpoint`
 */
export async function verifyLogProof(
  proof: LogProof,
  leaf: Uint8Array,
  policy: Policy,
  signatures?: SignatureCrypto,
): Promise<VerifiedCheckpoint> {
  const verified = await verifyCheckpoint(proof.checkpoint, policy, signatures);
  verifyInclusion(leaf, proof.index, verified.checkpoint, proof.inclusion);
  return verified;
}

function requireCheckpointNote(note: string): void {
  parseCheckpoint(parseNote(note).text);
}

function malformed(why: string): TlogError {
  return new TlogError('malformed', `Not a proof file (${HEADER}): ${why}. Use the bytes as served.`);
}
