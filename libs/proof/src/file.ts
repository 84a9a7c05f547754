import { type Checkpoint, equalBytes, MAX_PROOF_LENGTH, type Policy, type VerifiedCheckpoint } from '@iss/tlog';
import { BundleVerifier, type HashText, type ProvedVersion, type VerifyMap } from './bundle';
import { type FetchConsistency, requireContinued } from './consistency';
import { readProofAnswer, readProofFile, verifyEntryProof } from './entry-proof';
import { UnreadableError, VerificationError } from './errors';
import { Members } from './members';
import type { Proved, Since } from './report';
import { floorOf, requireFresh } from './trust';
import { verifyPartialProof } from './view/partial-proof';

/** Enough for the largest envelope that a deployment can allow, escaped and with its proof. */
export const MAX_LINE_BYTES = 64_000_000;
export const MAX_ENTRY_LENGTH = 1_000_000;

const PROOF_START = 'c2sp.org/tlog-proof@';

/** A bundle (NDJSON), a proof file of one entry (C2SP tlog-proof), or JSON: an answer with a proof, or a partial snapshot with one. */
export type KindOfFile = 'bundle' | 'proof' | 'answer';

/** A file, and what is needed to verify it. */
export interface FileEvidence {
  /** The lines of the file without their ends. */
  readonly lines: AsyncGenerator<Uint8Array, void>;
  /** Reads the file at once. It is called for a proof of one entry. */
  readonly readWhole: () => Uint8Array | Promise<Uint8Array>;
  /** Starts the message about a file that cannot be read. */
  readonly name: string;
  /** The entry, for a proof that does not contain it. */
  readonly entry: Uint8Array | null;
  readonly policy: Policy;
  /** An older checkpoint that was verified, which the log must continue. */
  readonly since: VerifiedCheckpoint | null;
  readonly fetchConsistency: FetchConsistency;
  /** The longest time since the witnesses dated the checkpoint. Default: any. */
  readonly maxAgeMs?: number | undefined;
  /**
   * Verifies answers that use the map, by the VRF key of the log. Its code is large, so it is loaded only when needed.
   */
  readonly verifyMap?: VerifyMap | undefined;
  /** A faster function of the platform. */
  readonly hashText?: HashText;
}

/** The result of a verified file. */
export interface ProvedFile {
  readonly proved: Proved;
  readonly since: Since | null;
}

/** A verified line of a bundle. */
export interface LineStep {
  readonly version: ProvedVersion;
  /** The number of versions in the first line. */
  readonly of: number;
}

/** Verifies a bundle or the proof of one entry. Yields each verified version of a bundle. @throws VerificationError */
export async function* proveFile(evidence: FileEvidence): AsyncGenerator<LineStep, ProvedFile, undefined> {
  const { since, maxAgeMs } = evidence;
  const proved = yield* proveLines(evidence);
  if (maxAgeMs !== undefined) requireFresh(proved.verified, evidence.policy, maxAgeMs);
  if (since === null) return { proved, since };
  await requireSince(since.checkpoint, proved.verified.checkpoint, evidence.fetchConsistency);
  return { proved, since: { size: since.checkpoint.size } };
}

async function* proveLines({
  lines,
  readWhole,
  name,
  entry,
  policy,
  since,
  hashText,
  verifyMap,
}: FileEvidence): AsyncGenerator<LineStep, Proved, undefined> {
  const floor = since === null ? null : floorOf(since);
  try {
    const first = (await lines.next()).value ?? new Uint8Array(0);
    const kind = kindOfFile(first, name);
    if (kind === 'bundle') {
      const bundle = await BundleVerifier.open(first, policy, hashText, floor);
      for await (const line of lines) {
        const version = bundle.add(line);
        if (version !== null) yield { version, of: bundle.versions };
      }
      return await bundle.end(verifyMap);
    }
    const whole = await readWhole();
    if (whole.length > MAX_PROOF_LENGTH) {
      throw new UnreadableError('not_in_log', `A proof has at most ${MAX_PROOF_LENGTH} bytes.`);
    }
    if (kind === 'proof') return await verifyEntryProof(readProofFile(whole), entry, policy, floor);
    const answer = Members.parse(name, whole);
    if (answer.has('view') && answer.has('envelope')) return await verifyPartialProof(answer, policy, floor);
    if (!answer.has('map')) return await verifyEntryProof(readProofAnswer(answer), entry, policy, floor);
    if (verifyMap === undefined) {
      const how = 'Add it to the policy as a line vrf VRF+…, or name it with --vrf-key.';
      throw new UnreadableError('not_newest', `${name} needs the VRF key of the log. ${how}`);
    }
    return await verifyMap(answer);
  } finally {
    await lines.return();
  }
}

async function requireSince(known: Checkpoint, checkpoint: Checkpoint, fetch: FetchConsistency): Promise<void> {
  if (known.origin !== checkpoint.origin) {
    throw new VerificationError(
      'checkpoint',
      `The older checkpoint is of the log ${known.origin}, but the proof is of ${checkpoint.origin}.`,
    );
  }
  const { size } = checkpoint;
  if (known.size === size && !equalBytes(known.root, checkpoint.root)) {
    throw new VerificationError(
      'forked',
      `The log shows two different trees of ${size} entries. Keep both checkpoints.`,
    );
  }
  const where = `The checkpoints of ${known.size} and ${size} entries`;
  await requireContinued(where, known, checkpoint, fetch);
}

/** Returns the kind of a file by its first line. @throws UnreadableError if the line is empty or not JSON */
export function kindOfFile(firstLine: Uint8Array, name = 'The file'): KindOfFile {
  if (firstLine.length === 0) throw new UnreadableError('not_in_log', `${name} is empty.`);
  const start = String.fromCharCode(...firstLine.subarray(0, PROOF_START.length));
  if (start === PROOF_START) return 'proof';
  return isWholeObject(firstLine) && Members.parse('The first line', firstLine).has('bundle') ? 'bundle' : 'answer';
}

/** Returns whether the line looks like a complete JSON object. A multi-line JSON text does not. */
function isWholeObject(line: Uint8Array): boolean {
  return line[0] === 0x7b && line[line.length - 1] === 0x7d;
}
