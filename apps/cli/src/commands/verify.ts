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
import { toldLater } from '../trust/refusal';
import { asText } from '../verify/report';
import { visible } from '../visible';

const WHAT = 'bundle (NDJSON) or proof (.tlog-proof, or the JSON of …/log-proof)';

/** Says whether a file proves what it shows: offline, by the keys of whom one trusts. */
export const verify: Command = {
  usage: `FILE ${TRUST_USAGE} [--entry FILE] [--since CHECKPOINT [--log URL | --proof FILE]] [--json]`,
  arguments: [{ name: 'file', about: 'The bundle or the proof.' }],
  options: {
    ...TRUST_OPTIONS,
    entry: { value: 'FILE', about: 'The entry of a .tlog-proof that does not hold it.' },
    since: { value: 'CHECKPOINT', about: 'A checkpoint that you kept: the log has to have gone on from it.' },
    log: { value: 'URL', about: 'Where the consistency proof comes from: the prefix of the log.' },
    proof: { value: 'FILE', about: 'The consistency proof.' },
    json: { about: 'A JSON document.' },
  },
  async run(options, { print }) {
    const file = textOf(options, 'file') ?? '';
    const isJson = hasFlag(options, 'json');
    const policy = policyOf(options);
    requireWayToSince(options);
    try {
      const known = await knownCheckpoint(options, policy);
      const proved = await toldLater(() => verifyFile(file, textOf(options, 'entry'), policy, known));
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
    if (first === undefined || first.length === 0) throw new UsageError(`${file} is empty: it has to be a ${WHAT}.`);
    switch (kindOfFile(first)) {
      case 'proof':
        return await verifyEntryProof(readProofFile(readWhole(file, WHAT, MAX_PROOF_LENGTH)), entry, policy, since);
      case 'answer': {
        const answer = Members.parse(`${file}, which has to be a ${WHAT},`, readWhole(file, WHAT, MAX_PROOF_LENGTH));
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
  if (ways.length > 1) throw new UsageError('Name one: --log URL, or --proof FILE.');
  if (!isAsked && ways.length > 0) throw new UsageError('--log and --proof are for --since CHECKPOINT: name it.');
}

/** The checkpoint of --since; null where none is named. */
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
    throw new Failure(visible(`${file} is of the log ${known.origin}, and this is of ${checkpoint.origin}.`));
  }
  const [older, newer] = inOrder(known, checkpoint);
  requireConsistent(older, newer, await consistencyOf(options, older, newer));
  return { size: known.size };
}

/** The proof that the newer tree begins with the older one. Two of one size need none: they are the same, or they are not. */
async function consistencyOf(options: Options, older: Checkpoint, newer: Checkpoint): Promise<Uint8Array[]> {
  const [log, given] = [textOf(options, 'log'), textOf(options, 'proof')];
  if (older.size === newer.size) return [];
  if (given !== undefined) return readConsistency(readWhole(given, 'consistency proof', MAX_NOTE_LENGTH));
  if (log !== undefined) return fetchConsistency(log, older, newer);
  throw new UsageError('--since CHECKPOINT needs the consistency proof: from --log URL, or given as --proof FILE.');
}
