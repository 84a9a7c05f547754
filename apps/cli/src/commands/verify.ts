import {
  BundleVerifier,
  floorOf,
  kindOfFile,
  MAX_ENTRY_LENGTH,
  MAX_LINE_BYTES,
  Members,
  type Proved,
  readProofAnswer,
  readProofFile,
  reportAsJson,
  type Since,
  verifyEntryProof,
} from '@identity-state/client/bundle';
import { hashText } from '@iss/domain';
import {
  type Checkpoint,
  decodeUtf8,
  MAX_NOTE_LENGTH,
  MAX_PROOF_LENGTH,
  type Policy,
  type VerifiedCheckpoint,
} from '@iss/tlog';
import { type Command, Failure, hasFlag, type Options, textOf, UsageError } from '../command';
import { readLines, readWhole } from '../files';
import { requireCheckpoint } from '../trust/checkpoint';
import { fetchConsistency, inOrder, readConsistency, requireConsistent } from '../trust/consistency';
import { policyOf, TRUST_OPTIONS, TRUST_USAGE, withoutQuorum } from '../trust/policy';
import { explainedAsync } from '../trust/refusal';
import { asText } from '../verify/report';
import { visible } from '../visible';
import { JSON_OPTION } from '../output';

const WHAT = 'bundle (NDJSON) or proof (.tlog-proof, or the JSON of iss proof)';

export const verify: Command = {
  about:
    'It needs neither the service nor an account. FILE is a bundle (NDJSON, from iss export --proofs) or the proof of one entry (.tlog-proof, or JSON from iss proof). The result says what is proved, by which signatures, and what is not.',
  usage: `FILE ${TRUST_USAGE} [--entry FILE] [--since CHECKPOINT [--log URL | --proof FILE]]`,
  arguments: [{ name: 'file', about: 'Bundle or proof.' }],
  options: {
    ...TRUST_OPTIONS,
    entry: { value: 'FILE', about: 'Log entry, for a .tlog-proof without one.' },
    since: { value: 'CHECKPOINT', about: 'File of an older checkpoint that the log must be consistent with.' },
    log: { value: 'URL', about: 'URL prefix of the log, to fetch the consistency proof.' },
    proof: { value: 'FILE', about: 'File of the consistency proof.' },
    ...JSON_OPTION,
  },
  async run(options, { print }) {
    const file = textOf(options, 'file') ?? '';
    const isJson = hasFlag(options, 'json');
    const policy = policyOf(options);
    requireWayToSince(options);
    try {
      const known = await knownCheckpoint(options, policy);
      const proved = await explainedAsync(() => verifyFile(file, textOf(options, 'entry'), policy, known));
      const since = await verifySince(options, known, proved.verified.checkpoint);
      print(isJson ? JSON.stringify(reportAsJson(proved, since), null, 2) : asText(file, proved, since));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const refused = visible(error.message);
      if (isJson) print(JSON.stringify({ verified: false, refused }, null, 2));
      throw new Failure(`Refused: ${visible(file)}. ${refused}`);
    }
  },
};

async function verifyFile(
  file: string,
  entryFile: string | undefined,
  policy: Policy,
  known: VerifiedCheckpoint | null,
): Promise<Proved> {
  const since = known === null ? null : floorOf(known);
  const entry = entryFile === undefined ? null : readWhole(entryFile, 'entry', MAX_ENTRY_LENGTH);
  const lines = readLines(file, WHAT, MAX_LINE_BYTES);
  try {
    const { value: first } = await lines.next();
    if (first === undefined || first.length === 0) throw new UsageError(`${file} is empty. It must be a ${WHAT}.`);
    switch (kindOfFile(first)) {
      case 'proof':
        return await verifyEntryProof(readProofFile(readWhole(file, WHAT, MAX_PROOF_LENGTH)), entry, policy, since);
      case 'answer': {
        const answer = Members.parse(`${file}, which must be a ${WHAT},`, readWhole(file, WHAT, MAX_PROOF_LENGTH));
        return await verifyEntryProof(readProofAnswer(answer), entry, policy, since);
      }
      case 'bundle': {
        const bundle = await BundleVerifier.open(first, policy, hashText, since);
        for await (const line of lines) bundle.add(line);
        return bundle.end();
      }
    }
  } finally {
    await lines.return();
  }
}

function requireWayToSince(options: Options): void {
  const ways = ['log', 'proof'].filter((name) => textOf(options, name) !== undefined);
  const isAsked = textOf(options, 'since') !== undefined;
  if (ways.length > 1) throw new UsageError('--log and --proof exclude each other. Remove one of them.');
  if (!isAsked && ways.length > 0) throw new UsageError('--log and --proof apply to --since. Add --since CHECKPOINT.');
}

/** Reads the checkpoint of --since; null if it is not given. */
async function knownCheckpoint(options: Options, policy: Policy): Promise<VerifiedCheckpoint | null> {
  const file = textOf(options, 'since');
  if (file === undefined) return null;
  const note = decodeUtf8(readWhole(file, 'checkpoint', MAX_NOTE_LENGTH));
  return requireCheckpoint(note, withoutQuorum(policy), file);
}

async function verifySince(
  options: Options,
  verified: VerifiedCheckpoint | null,
  checkpoint: Checkpoint,
): Promise<Since | null> {
  if (verified === null) return null;
  const { checkpoint: known } = verified;
  const file = textOf(options, 'since') ?? '';
  if (known.origin !== checkpoint.origin) {
    throw new Failure(visible(`${file} is of the log ${known.origin}, but the proof is of ${checkpoint.origin}.`));
  }
  const [older, newer] = inOrder(known, checkpoint);
  requireConsistent(older, newer, await consistencyOf(options, older, newer));
  return { size: known.size };
}

/** Reads or fetches the consistency proof. Two checkpoints of one size need none. */
async function consistencyOf(options: Options, older: Checkpoint, newer: Checkpoint): Promise<Uint8Array[]> {
  const [log, given] = [textOf(options, 'log'), textOf(options, 'proof')];
  if (older.size === newer.size) return [];
  if (given !== undefined) return readConsistency(readWhole(given, 'consistency proof', MAX_NOTE_LENGTH));
  if (log !== undefined) return fetchConsistency(log, older, newer);
  throw new UsageError('--since needs a consistency proof. Add --log URL or --proof FILE.');
}
