import {
  MAX_ENTRY_LENGTH,
  MAX_LINE_BYTES,
  type Members,
  type Proved,
  proveFile,
  type ProvedFile,
  reportAsJson,
  requireCheckpoint,
  UnreadableError,
  VerificationError,
  withoutQuorum,
} from '@iss/proof';
import { hashText } from '@iss/domain';
import { decodeUtf8, MAX_NOTE_LENGTH, MAX_PROOF_LENGTH, type Policy, type VerifiedCheckpoint } from '@iss/tlog';
import { type Command, Failure, hasFlag, numberOf, type Options, textOf, UsageError } from '../command';
import { readLines, readWhole } from '../files';
import { fetchConsistencyOf, readConsistency } from '../trust/consistency';
import { trustedPolicy, TRUST_OPTIONS, TRUST_USAGE } from '../trust/policy';
import { asText } from '../verify/report';
import { visible } from '../visible';
import { JSON_OPTION } from '../output';

const WHAT = 'bundle (NDJSON) or proof (.tlog-proof, or the JSON of iss proof)';

/** Ten years. */
const MAX_AGE_S = 315_360_000;

export const verify: Command = {
  about:
    'It needs neither the service nor an account. FILE is a bundle (NDJSON, from iss export --proofs) or a proof (.tlog-proof, or JSON from iss proof). The result says what is proved, by which signatures, and what is not.',
  usage: `FILE ${TRUST_USAGE} [--entry FILE] [--vrf-key KEY] [--max-age SECONDS] [--since CHECKPOINT [--log URL | --proof FILE]]`,
  arguments: [{ name: 'file', about: 'Bundle or proof.' }],
  options: {
    ...TRUST_OPTIONS,
    entry: { value: 'FILE', about: 'Log entry, for a .tlog-proof without one.' },
    'vrf-key': {
      value: 'KEY',
      about: 'Public VRF key of the log (VRF+…), which proves what is newest (default: the vrf line of the policy).',
    },
    'max-age': { value: 'SECONDS', about: 'Refuse a checkpoint that the witnesses of the policy dated earlier.' },
    since: { value: 'CHECKPOINT', about: 'File of an older checkpoint that the log must be consistent with.' },
    log: { value: 'URL', about: 'URL prefix of the log, to fetch the consistency proof.' },
    proof: { value: 'FILE', about: 'File of the consistency proof.' },
    ...JSON_OPTION,
  },
  async run(options, { print }) {
    const file = textOf(options, 'file') ?? '';
    const isJson = hasFlag(options, 'json');
    const policy = trustedPolicy(options);
    requireWayToSince(options);
    try {
      const { proved, since } = await verifyFile(file, policy, options);
      print(isJson ? JSON.stringify(reportAsJson(proved, since), null, 2) : asText(file, proved, since));
    } catch (error) {
      const isRefused = error instanceof VerificationError && !(error instanceof UnreadableError);
      if (!isRefused && !(error instanceof Failure)) throw error;
      const refused = visible(error.message);
      if (isJson) print(JSON.stringify({ verified: false, refused }, null, 2));
      throw new Failure(`Refused: ${visible(file)}. ${refused}`);
    }
  },
};

async function verifyFile(file: string, policy: Policy, options: Options): Promise<ProvedFile> {
  const since = await knownCheckpoint(options, policy);
  const entryFile = textOf(options, 'entry');
  const vrfKey = textOf(options, 'vrf-key') ?? policy.vrfKey;
  const maxAge = numberOf(options, 'max-age', [1, MAX_AGE_S]);
  const steps = proveFile({
    lines: readLines(file, WHAT, MAX_LINE_BYTES),
    readWhole: () => readWhole(file, WHAT, MAX_PROOF_LENGTH),
    name: `${file}, which must be a ${WHAT},`,
    entry: entryFile === undefined ? null : readWhole(entryFile, 'entry', MAX_ENTRY_LENGTH),
    policy,
    since,
    fetchConsistency: (from, to) => consistencyOf(options, from, to),
    hashText,
    verifyMap: vrfKey === null ? undefined : (answer) => verifyMap(answer, policy, vrfKey),
    maxAgeMs: maxAge === undefined ? undefined : maxAge * 1000,
  });
  let step = await steps.next();
  while (step.done !== true) step = await steps.next();
  return step.value;
}

/** Verifies an answer that uses the map. The code is loaded when a proof needs it. */
async function verifyMap(answer: Members, policy: Policy, vrfKey: string): Promise<Proved> {
  const [{ verifyMapAnswer }, { loadSodiumGroup }] = await Promise.all([
    import('@iss/proof/complete'),
    import('@iss/map/sodium'),
  ]);
  return verifyMapAnswer(answer, { policy, vrfKey, group: await loadSodiumGroup() });
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

/** Reads or fetches a consistency proof. */
async function consistencyOf(options: Options, from: number, to: number): Promise<readonly string[]> {
  const [log, proof] = [textOf(options, 'log'), textOf(options, 'proof')];
  if (proof !== undefined) return readConsistency(readWhole(proof, 'consistency proof', MAX_NOTE_LENGTH));
  if (log !== undefined) return fetchConsistencyOf(log)(from, to);
  throw new UsageError('--since needs a consistency proof. Add --log URL or --proof FILE.');
}
