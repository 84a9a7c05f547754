import { canonicalize, isJsonObject, type JsonValue } from '@iss/domain/pure';
import {
  type Checkpoint,
  encodeBase64,
  encodeUtf8,
  equalBytes,
  formatVerifierKey,
  parseCheckpoint,
  parseNote,
  type Policy,
  sha256,
  toHex,
} from '@iss/tlog';
import { requireContinued } from './consistency';
import { type LoggedVersion, requireContent, requireMembers, textOf } from './content';
import { VerificationError } from './errors';
import {
  bytesOfHex,
  requireErasedVersion,
  requireErasureEntry,
  requireIncluded,
  requireVersionEntry,
} from './inclusion';
import { leafOf, type LoggedText } from './leaf';
import { Members } from './members';
import { shownCheckpoint } from './report';
import { readPolicy, requireCheckpoint, withoutQuorum } from './trust';
import { readPartialSnapshot, readViewProof } from './view/partial-proof';
import { requireLoggedView, requirePartialContent } from './view/view';

export type StepName =
  'content' | 'chain' | 'entry' | 'view' | 'inclusion' | 'checkpoint' | 'witnesses' | 'consistency' | 'newest';
/** `open`: neither proved nor refused. */
export type StepState = 'holds' | 'fails' | 'open';

/** The values that a step compares or recomputes. */
export type InputName =
  | 'canonical'
  | 'payload'
  | 'computed'
  | 'claimed'
  | 'previousHash'
  | 'prevHash'
  | 'entry'
  | 'mapKeys'
  | 'leaf'
  | 'index'
  | 'path'
  | 'root'
  | 'size'
  | 'note'
  | 'keys'
  | 'signedBy'
  | 'witnessKeys'
  | 'cosignedBy'
  | 'kept'
  | 'consistency'
  | 'vrfKey'
  | 'mapRoot';

/** The result of a step of a proof. */
export interface Step {
  readonly name: StepName;
  readonly state: StepState;
  readonly why: string;
  readonly inputs: readonly (readonly [name: InputName, value: string])[];
}

/** A response, or the reason why there is none. */
export type Answer<T> = { readonly got: T } | { readonly not: string };

/** The inputs of a version's proof, as the service returned them. None of them is trusted. */
export interface VersionEvidence {
  readonly subjectType: string;
  readonly subjectId: string;
  readonly version: number;
  /** The snapshot; of an erased version, the members of its receipt. */
  readonly snapshot: JsonValue;
  /** Null for the first version. */
  readonly previous: Answer<JsonValue> | null;
  /** The response of `…/log-proof`; of an erased version, the proof in its receipt. */
  readonly proof: Answer<JsonValue>;
  /** A policy or a key. */
  readonly trusted: string;
  readonly isTrustOfService: boolean;
  /** The checkpoint that the reader kept of the log, or null. */
  readonly kept: string | null;
  /** The consistency proof between the kept checkpoint and the proof's, in either order; null if none is needed. */
  readonly consistency: Answer<readonly string[]> | null;
}

export type ContentEvidence = Pick<VersionEvidence, 'subjectType' | 'subjectId' | 'version' | 'snapshot'>;
export type Done = Omit<Step, 'name'>;
export type Inputs = [InputName, string][];

/** Recomputes the proof of a version. Each step runs on its own, so that all failures are shown. */
export async function* prove(evidence: VersionEvidence): AsyncGenerator<Step, void, undefined> {
  const steps: readonly (readonly [StepName, (evidence: VersionEvidence, inputs: Inputs) => Promise<Done> | Done])[] = [
    ['content', proveContent],
    ['chain', proveChain],
    ['entry', proveEntry],
    ...(isPartial(evidence.snapshot) ? [['view', proveView] as const] : []),
    ['inclusion', proveInclusion],
    ['checkpoint', proveSignature],
    ['witnesses', proveWitnesses],
    ['consistency', proveConsistency],
  ];
  for (const [name, step] of steps) yield runStep(name, async (inputs) => step(evidence, inputs));
}

/** Returns whether a snapshot shows only a part of its version. */
function isPartial(snapshot: JsonValue | undefined): boolean {
  return isJsonObject(snapshot) && Object.hasOwn(snapshot, 'view');
}

/** Runs a step. An error becomes the failure of the step. */
export async function runStep(name: StepName, step: (inputs: Inputs) => Promise<Done>): Promise<Step> {
  const inputs: Inputs = [];
  try {
    return { name, ...(await step(inputs)) };
  } catch (error) {
    return { name, ...fails(error instanceof Error ? error.message : String(error), inputs) };
  }
}

export const holds = (why: string, inputs: Inputs): Done => ({ state: 'holds', why, inputs });
export const fails = (why: string, inputs: Inputs): Done => ({ state: 'fails', why, inputs });
export const open = (why: string, inputs: Inputs): Done => ({ state: 'open', why, inputs });
/** Returns the result of a step that rests on keys of the service: its own keys prove nothing to others. */
export const holdsBy = (
  { isTrustOfService }: Pick<VersionEvidence, 'isTrustOfService'>,
  why: string,
  inputs: Inputs,
): Done =>
  isTrustOfService
    ? open(`${why} These keys come from the service being checked. Use independent keys to close this step.`, inputs)
    : holds(why, inputs);

const hashOf = (value: JsonValue): string => toHex(sha256(encodeUtf8(canonicalize(value))));
const whereOf = ({ version }: ContentEvidence): string => `Version ${version}:`;

/** Checks that the content of a snapshot has its hash, and that it is the requested version. @throws VerificationError */
export function proveContent(evidence: ContentEvidence, inputs: Inputs = []): Done {
  const snapshot = Members.of('The snapshot', evidence.snapshot);
  if (!snapshot.has('envelope')) {
    return open(
      'The content was erased on purpose. The bundle proves its place in the chain. The content itself can no longer be proved.',
      inputs,
    );
  }
  if (isPartial(evidence.snapshot)) return provePart(evidence, inputs);
  const envelope = snapshot.value('envelope');
  const claimed = snapshot.textOrNull('envelope_hash');
  const computed = hashOf(envelope);
  inputs.push(['canonical', canonicalize(envelope)], ['computed', computed], ['claimed', claimed ?? '']);
  if (claimed === null) {
    return open('This version was imported without a hash, so nothing about it can be verified.', inputs);
  }
  if (computed !== claimed) {
    const why =
      'The hash computed here is not the hash that the service states: the content was changed after it was written.';
    return fails(why, inputs);
  }
  requireContent(whereOf(evidence), headerOf(evidence), envelope, computed);
  return holds('The hash computed here equals the hash that the service states.', inputs);
}

/** Checks that the shown part of a version is what its view discloses. */
function provePart(evidence: ContentEvidence, inputs: Inputs): Done {
  const snapshot = readPartialSnapshot(Members.of('The snapshot', evidence.snapshot));
  inputs.push(['payload', canonicalize(snapshot.view.payload)]);
  const { hash } = requirePartialContent(whereOf(evidence), { ...snapshot, ...headerOf(evidence) });
  inputs.push(['computed', hash]);
  const { length } = snapshot.disclosed_paths;
  return holds(
    `The hashes of the shown values are all in the view of the version, at the ${length === 1 ? 'path' : `${length} paths`} that you may see.`,
    inputs,
  );
}

/** Checks that the log names the view of a partial snapshot. */
function proveView(evidence: VersionEvidence, inputs: Inputs): Done {
  const log = logAnswer(evidence.proof);
  if (typeof log === 'string') return open(log, inputs);
  const { answer, note } = log;
  if (note === null) return open(NO_CHECKPOINT, inputs);
  const where = whereOf(evidence);
  const snapshot = readPartialSnapshot(Members.of('The snapshot', evidence.snapshot));
  const entry = requireVersionEntry(where, answer.logged(), headerOf(evidence));
  const own = readViewProof(answer);
  const view = requirePartialContent(where, snapshot);
  inputs.push(['computed', view.hash], ...entryInputs(own ?? answer.logged()));
  requireLoggedView(where, { view, entry, own, snapshot, checkpoint: checkpointOf(note) });
  const how = 'view_hash' in entry ? 'The entry of the version' : 'An entry of its own';
  return holds(`${how} names the hash of the view.`, inputs);
}

/** Returns the header members that the service states, of the requested subject. */
function headerOf(evidence: ContentEvidence): LoggedVersion {
  const snapshot = Members.of('The snapshot', evidence.snapshot);
  const { subjectType, subjectId, version } = evidence;
  const timeOf = (name: string): string | undefined => (snapshot.has(name) ? snapshot.text(name) : undefined);
  const textOrNullOf = (name: string): string | null => (snapshot.has(name) ? snapshot.textOrNull(name) : null);
  const stated = { snapshot_version: snapshot.count('snapshot_version') };
  requireMembers('The snapshot', stated, { snapshot_version: version }, 'other_version');
  return {
    subject: { subject_type: subjectType, subject_id: subjectId },
    snapshot_id: snapshot.text('snapshot_id'),
    snapshot_version: version,
    envelope_hash: snapshot.textOrNull('envelope_hash'),
    prev_hash: snapshot.textOrNull('prev_hash'),
    created_at: timeOf('created_at'),
    generated_at: timeOf('generated_at'),
    written_by: textOrNullOf('written_by'),
    write_request_id: textOrNullOf('write_request_id'),
    change_kind: snapshot.has('change_kind') ? snapshot.text('change_kind') : undefined,
  };
}

function proveChain({ snapshot, version, previous }: VersionEvidence, inputs: Inputs): Done {
  const { all } = Members.of('The snapshot', snapshot);
  const before = version - 1;
  if (all['envelope'] === undefined) {
    return open('Without the content, this compares two claims of the service.', inputs);
  }
  const named = all['prev_hash'] ?? null;
  if (previous === null) {
    requireMembers('The snapshot', { prev_hash: named }, { prev_hash: null }, 'chain');
    return holds('This is the first version. It names no previous version.', inputs);
  }
  if ('not' in previous) return open(`Version ${before} could not be read: ${previous.not}`, inputs);
  const { envelope, envelope_hash: stated } = Members.of('The previous snapshot', previous.got).all;
  const isWhole = envelope !== undefined && !isPartial(previous.got);
  const hash = isWhole ? hashOf(envelope) : stated;
  inputs.push(['previousHash', textOf(hash)], ['prevHash', textOf(named)]);
  if (hash !== named) {
    return fails(
      `The content that the service shows for version ${before} does not have the hash that this version names.`,
      inputs,
    );
  }
  if (!isWhole) {
    const state = envelope === undefined ? 'was erased' : 'is shown in part';
    const why = `Version ${before} ${state}. The service states the hash that this version names, and nobody can recompute it.`;
    return open(why, inputs);
  }
  return holds(`The content of version ${before} has the hash that this version names.`, inputs);
}

/** The proof of a version, or of an erased version with that of its erasure. */
interface LogAnswer {
  readonly answer: Members;
  readonly erasure: Members | null;
  /** The signed checkpoint; null if the log no longer signs that size. */
  readonly note: string | null;
}

/** Reads the answer of the log. A missing answer leaves the step open. */
function logAnswer(proof: Answer<JsonValue>): LogAnswer | string {
  if ('not' in proof) return `There is no proof from the log: ${proof.not}`;
  const answer = Members.of('The proof', proof.got);
  const erasure = answer.has('erasure') ? answer.object('erasure') : null;
  return { answer, erasure, note: noteOf(proof.got) };
}

/** Returns the checkpoint of a proof or of an erasure's proof, or null. */
export function noteOf(proof: JsonValue): string | null {
  const erasure = isJsonObject(proof) ? proof['erasure'] : undefined;
  const signed = erasure ?? proof;
  const note = isJsonObject(signed) ? signed['checkpoint'] : undefined;
  return typeof note === 'string' ? note : null;
}

const NO_CHECKPOINT = 'The response has no checkpoint: the log no longer signs that size.';

function proveEntry(evidence: VersionEvidence, inputs: Inputs): Done {
  const log = logAnswer(evidence.proof);
  if (typeof log === 'string') return open(log, inputs);
  const { answer, erasure } = log;
  if (erasure !== null) return proveErasure(evidence, answer, erasure, inputs);
  const logged = answer.logged();
  const leaf = toHex(leafOf(logged));
  inputs.push(...entryInputs(logged), ['leaf', leaf]);
  const entry = requireVersionEntry(whereOf(evidence), logged, headerOf(evidence));
  requireMembers('The proof', { leaf_hash: answer.text('leaf_hash') }, { leaf_hash: leaf });
  const { tenant_id: tenant, created_at: at } = entry;
  return holds(`The service stored it for the tenant ${tenant} at ${textOf(at)}, by its own clock.`, inputs);
}

/**
 * Compares an erased version with the entry of the erasure, which names its log index. Entries from earlier releases do not name the
 * version there.
 */
function proveErasure(evidence: VersionEvidence, answer: Members, erasure: Members, inputs: Inputs): Done {
  const logged = erasure.logged();
  const index = answer.count('log_index');
  inputs.push(...entryInputs(logged), ['index', String(index)]);
  const snapshot = headerOf(evidence);
  const entry = requireErasureEntry(whereOf(evidence), logged, snapshot.subject);
  const named = requireErasedVersion(whereOf(evidence), entry, { log_index: index, snapshot });
  const at = textOf(entry['erased_at']);
  const shown = index.toLocaleString();
  if (named === null) {
    const why = `The log states that entry ${shown} of this subject was erased at ${at}. Only the service states that it was this version.`;
    return open(why, inputs);
  }
  const written = textOf(named['created_at']);
  return holds(`The log names this version: entry ${shown}, stored at ${written} and erased at ${at}.`, inputs);
}

function proveInclusion(evidence: VersionEvidence, inputs: Inputs): Done {
  const log = logAnswer(evidence.proof);
  if (typeof log === 'string') return open(log, inputs);
  const { answer, erasure, note } = log;
  if (note === null) return open(NO_CHECKPOINT, inputs);
  const checkpoint = checkpointOf(note);
  const size = checkpoint.size.toLocaleString();
  const index = answer.count('log_index').toLocaleString();
  if (erasure === null) {
    included(answer, leafOf(answer.logged()), checkpoint, inputs);
    return holds(`The hashes lead from entry ${index} to the root of ${size} entries.`, inputs);
  }
  included(erasure, leafOf(erasure.logged()), checkpoint, inputs);
  included(answer, bytesOfHex(answer.text('leaf_hash')), checkpoint, inputs);
  const why = `The hash of entry ${index} and the entry of its erasure are both in the tree of ${size} entries.`;
  return holds(why, inputs);
}

/** Returns the entry, and its keys in the map if it has any. */
function entryInputs({ entry, keys }: LoggedText): Inputs {
  const inputs: Inputs = [['entry', entry]];
  if (keys) inputs.push(['mapKeys', keys.join('\n')]);
  return inputs;
}

/** Verifies that a leaf is in the tree. */
function included(proof: Members, leaf: Uint8Array, checkpoint: Checkpoint, inputs: Inputs): void {
  const index = proof.count('log_index');
  const inclusion = proof.texts('inclusion');
  inputs.push(
    ['leaf', toHex(leaf)],
    ['index', String(index)],
    ['path', inclusion.join('\n')],
    ['size', String(checkpoint.size)],
    ['root', encodeBase64(checkpoint.root)],
  );
  requireIncluded('The proof', leaf, { log_index: index, inclusion }, checkpoint);
}

async function proveSignature(evidence: VersionEvidence, inputs: Inputs): Promise<Done> {
  const log = logAnswer(evidence.proof);
  if (typeof log === 'string') return open(log, inputs);
  if (log.note === null) return open(NO_CHECKPOINT, inputs);
  const policy = await readPolicy(evidence.trusted);
  inputs.push(['note', log.note], ['keys', keysText(policy.logs)]);
  const verified = await requireCheckpoint(log.note, ofLogAlone(policy), 'The checkpoint');
  inputs.push(['signedBy', signersText(shownCheckpoint(verified).signed_by)]);
  return holdsBy(evidence, `${verified.checkpoint.origin} signed it.`, inputs);
}

async function proveWitnesses(evidence: VersionEvidence, inputs: Inputs): Promise<Done> {
  const log = logAnswer(evidence.proof);
  if (typeof log === 'string') return open(log, inputs);
  if (log.note === null) return open(NO_CHECKPOINT, inputs);
  const policy = await readPolicy(evidence.trusted);
  inputs.push(['witnessKeys', keysText(policy.witnesses)]);
  if (policy.quorum === null) {
    return open('The keys that you trust name no witness. Only the log vouches for it.', inputs);
  }
  const { cosigned_by: cosigned } = shownCheckpoint(await requireCheckpoint(log.note, policy, 'The checkpoint'));
  inputs.push(['cosignedBy', signersText(cosigned)]);
  const { length } = cosigned;
  const who = length === 1 ? 'One witness' : `${length} witnesses`;
  return holdsBy(evidence, `${who} that you trust cosigned it.`, inputs);
}

async function proveConsistency(evidence: VersionEvidence, inputs: Inputs): Promise<Done> {
  const log = logAnswer(evidence.proof);
  if (typeof log === 'string') return open(log, inputs);
  return log.note === null ? open(NO_CHECKPOINT, inputs) : proveContinued(log.note, evidence, inputs);
}

/** Proves that a checkpoint and the kept one are of one log. Open without a kept one. @throws VerificationError */
export async function proveContinued(
  note: string,
  { trusted, kept, consistency }: Pick<VersionEvidence, 'trusted' | 'kept' | 'consistency'>,
  inputs: Inputs,
): Promise<Done> {
  if (kept === null) {
    const why =
      'This browser had kept no checkpoint of this log. It now keeps this one, and compares the next one with it.';
    return open(why, inputs);
  }
  inputs.push(['kept', kept], ['note', note]);
  const shown = checkpointOf(note);
  const policy = ofLogAlone(await readPolicy(trusted));
  let known: Checkpoint;
  try {
    known = (await requireCheckpoint(kept, policy, 'The checkpoint')).checkpoint;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const why = `The keys that you trust cannot verify the checkpoint that this browser kept: ${error.message}`;
    return open(why, inputs);
  }
  const size = shown.size.toLocaleString();
  if (known.size === shown.size) {
    return equalBytes(known.root, shown.root)
      ? holds(`It is the same tree of ${size} entries that this browser kept.`, inputs)
      : fails(
          `The log shows two different trees of ${size} entries. Keep both checkpoints: together they prove it.`,
          inputs,
        );
  }
  if (consistency !== null && 'not' in consistency) {
    return fails(`The log did not prove that it extends the kept checkpoint: ${consistency.not}`, inputs);
  }
  const hashes = consistency?.got ?? [];
  inputs.push(['consistency', hashes.join('\n')]);
  await requireContinued('The log', known, shown, async () => hashes);
  const [older, newer] = [known.size, shown.size].sort((one, other) => one - other).map((one) => one.toLocaleString());
  return holds(`The tree of ${newer} entries extends the tree of ${older} entries.`, inputs);
}

/** Parses a checkpoint without verifying its signatures. */
function checkpointOf(note: string): Checkpoint {
  return parseCheckpoint(parseNote(note).text);
}

function ofLogAlone(policy: Policy): Policy {
  return { ...withoutQuorum(policy), witnesses: [], groups: [] };
}

function keysText(keys: Policy['logs']): string {
  return keys.map(({ key }) => formatVerifierKey(key)).join('\n');
}

function signersText(signers: readonly { readonly key: string; readonly at: string | null }[]): string {
  return signers.map(({ key, at }) => (at === null ? key : `${key}, at ${at}`)).join('\n');
}
