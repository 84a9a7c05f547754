import { readPolicy, requireCheckpoint, shownCheckpoint } from '@identity-state/client/bundle';
import { canonicalize, isJsonObject, type JsonValue, parseStoredJson } from '@iss/domain/pure';
import {
  type Checkpoint,
  decodeHash,
  encodeBase64,
  equalBytes,
  formatVerifierKey,
  leafHash,
  parseCheckpoint,
  parseNote,
  type Policy,
  sha256,
  toHex,
  verifyConsistency,
  verifyInclusion,
} from '@iss/tlog';
import { TEXT } from '../../text/proof.ts';

export type StepName = keyof typeof TEXT.steps;
export type StepState = 'holds' | 'fails' | 'open';
type InputName = keyof typeof TEXT.inputNames;

/** The result of a step of a proof. */
export interface ProofStep {
  readonly name: StepName;
  readonly state: StepState;
  readonly why: string;
  readonly inputs: readonly (readonly [name: InputName, value: string])[];
}

/** A response, or the reason why there is none. */
export type Asked<T> = { readonly got: T } | { readonly not: string };

/** The inputs of a version's proof, as the service returned them. None of them is trusted. */
export interface VersionProof {
  readonly subjectType: string;
  readonly subjectId: string;
  readonly version: number;
  readonly snapshot: JsonValue;
  /** Null for the first version. */
  readonly previous: Asked<JsonValue> | null;
  /** The response of `…/log-proof`. */
  readonly proof: Asked<JsonValue>;
  /** A policy or a key. */
  readonly trusted: string;
  readonly isTrustOfService: boolean;
  /** The checkpoint that this browser kept of the log, or null. */
  readonly kept: string | null;
  /** The consistency proof between the kept checkpoint and the proof's, in either order; null if none is needed. */
  readonly consistency: Asked<readonly string[]> | null;
}

type Done = Omit<ProofStep, 'name'>;
type Inputs = [InputName, string][];

/** Recomputes the proof of a version. Each step runs on its own, so that all failures are shown. */
export async function stepsOf(given: VersionProof): Promise<ProofStep[]> {
  const steps: readonly (readonly [StepName, (inputs: Inputs) => Promise<Done> | Done])[] = [
    ['content', (inputs) => content(given, inputs)],
    ['chain', (inputs) => chain(given, inputs)],
    ['entry', (inputs) => entry(given, inputs)],
    ['inclusion', (inputs) => inclusion(given, inputs)],
    ['checkpoint', (inputs) => signedByLog(given, inputs)],
    ['witnesses', (inputs) => witnessed(given, inputs)],
    ['consistency', (inputs) => goesOn(given, inputs)],
  ];
  const done: ProofStep[] = [];
  for (const [name, step] of steps) {
    const inputs: Inputs = [];
    try {
      done.push({ name, ...(await step(inputs)) });
    } catch (error) {
      done.push({ name, ...fails(error instanceof Error ? error.message : String(error), inputs) });
    }
  }
  return done;
}

const holds = (why: string, inputs: Inputs): Done => ({ state: 'holds', why, inputs });
const fails = (why: string, inputs: Inputs): Done => ({ state: 'fails', why, inputs });
const open = (why: string, inputs: Inputs): Done => ({ state: 'open', why, inputs });

const utf8 = new TextEncoder();
const hashText = (text: string): string => toHex(sha256(utf8.encode(text)));

/** Checks that the content of a snapshot has its hash, and that it is the requested version. */
export function content(
  {
    snapshot,
    subjectType,
    subjectId,
    version,
  }: Pick<VersionProof, 'snapshot' | 'subjectType' | 'subjectId' | 'version'>,
  inputs: Inputs = [],
): Done {
  const envelope = memberOf(snapshot, 'envelope');
  const claimed = memberOf(snapshot, 'envelope_hash');
  if (envelope === undefined) return open(TEXT.erased, inputs);
  const canonical = canonicalize(envelope);
  const computed = hashText(canonical);
  inputs.push(['canonical', canonical], ['computed', computed], ['claimed', textOf(claimed)]);
  if (claimed === null) return open(TEXT.unhashed, inputs);
  if (computed !== claimed) return fails(TEXT.contentDiffers, inputs);
  const header = ['snapshot_id', 'snapshot_version', 'generated_at'] as const;
  return (
    firstFault(
      [
        ['snapshot_version', memberOf(snapshot, 'snapshot_version'), version],
        ['subject_type', memberOf(memberOf(envelope, 'subject'), 'subject_type'), subjectType],
        ['subject_id', memberOf(memberOf(envelope, 'subject'), 'subject_id'), subjectId],
        ...header.map((name) => [name, lower(memberOf(envelope, name)), lower(memberOf(snapshot, name))] as const),
      ],
      inputs,
    ) ?? holds(TEXT.contentHolds, inputs)
  );
}

function chain({ snapshot, version, previous }: VersionProof, inputs: Inputs): Done {
  const named = memberOf(snapshot, 'prev_hash');
  // Without the content, both hashes are claims of the service.
  if (memberOf(snapshot, 'envelope') === undefined) return open(TEXT.twoClaims, inputs);
  if (previous === null) {
    return firstFault([['prev_hash', named, null]], inputs) ?? holds(TEXT.first, inputs);
  }
  if ('not' in previous) return open(TEXT.notRead(version - 1, previous.not), inputs);
  const envelope = memberOf(previous.got, 'envelope');
  const hash =
    envelope === undefined ? textOf(memberOf(previous.got, 'envelope_hash')) : hashText(canonicalize(envelope));
  inputs.push(['previousHash', hash], ['prevHash', textOf(named)]);
  if (hash !== named) return fails(TEXT.chainDiffers(version - 1), inputs);
  if (envelope === undefined) return open(TEXT.chainOfErased(version - 1), inputs);
  return holds(TEXT.chainHolds(version - 1), inputs);
}

function entry(given: VersionProof, inputs: Inputs): Done {
  const { snapshot, proof, subjectType, subjectId, version } = given;
  if ('not' in proof) return open(TEXT.noProof(proof.not), inputs);
  const erasure = memberOf(proof.got, 'erasure');
  if (erasure !== undefined) return erasureEntry(given, proof.got, erasure, inputs);
  const text = textOf(memberOf(proof.got, 'entry'));
  const leaf = toHex(leafHash(text));
  inputs.push(['entry', text], ['leaf', leaf]);
  const logged = parseStoredJson(text);
  if (canonicalize(logged) !== text) return fails(TEXT.entryText, inputs);
  return (
    firstFault(
      [
        ['type', memberOf(logged, 'type'), 'snapshot.created'],
        ['subject_type', memberOf(logged, 'subject_type'), subjectType],
        ['subject_id', memberOf(logged, 'subject_id'), subjectId],
        ['snapshot_version', memberOf(logged, 'snapshot_version'), version],
        ['snapshot_id', lower(memberOf(logged, 'snapshot_id')), lower(memberOf(snapshot, 'snapshot_id'))],
        ...(['envelope_hash', 'prev_hash', 'created_at'] as const).map(
          (name) => [name, memberOf(logged, name), memberOf(snapshot, name)] as const,
        ),
        // Entries from earlier releases name no writer.
        ...(['written_by', 'write_request_id'] as const)
          .filter((name) => memberOf(logged, name) !== undefined)
          .map((name) => [name, memberOf(logged, name), memberOf(snapshot, name)] as const),
        ['leaf_hash', memberOf(proof.got, 'leaf_hash'), leaf],
      ],
      inputs,
    ) ?? holds(TEXT.entryHolds(textOf(memberOf(logged, 'created_at')), textOf(memberOf(logged, 'tenant_id'))), inputs)
  );
}

/**
 * Compares an erased version with the entry of the erasure, which names its log index. Entries from earlier releases do not
 * name the version there.
 */
function erasureEntry(
  { subjectType, subjectId, snapshot, version }: VersionProof,
  proof: JsonValue,
  erasure: JsonValue,
  inputs: Inputs,
): Done {
  const text = textOf(memberOf(erasure, 'entry'));
  const index = Number(memberOf(proof, 'log_index'));
  inputs.push(['entry', text], ['index', String(index)]);
  const logged = parseStoredJson(text);
  if (canonicalize(logged) !== text) return fails(TEXT.entryText, inputs);
  const erased = memberOf(logged, 'erased_indexes');
  const place = Array.isArray(erased) ? erased.indexOf(index) : -1;
  if (place < 0) return fails(TEXT.otherErasure(index), inputs);
  const versions = memberOf(logged, 'erased_versions');
  const named = Array.isArray(versions) ? (versions[place] ?? null) : undefined;
  const at = textOf(memberOf(logged, 'erased_at'));
  return (
    firstFault(
      [
        ['type', memberOf(logged, 'type'), 'subject.erased'],
        ['subject_type', memberOf(logged, 'subject_type'), subjectType],
        ['subject_id', memberOf(logged, 'subject_id'), subjectId],
        ...(named === undefined
          ? []
          : ([
              ['snapshot_version', memberOf(named, 'snapshot_version'), version],
              ['snapshot_id', lower(memberOf(named, 'snapshot_id')), lower(memberOf(snapshot, 'snapshot_id'))],
              ['envelope_hash', memberOf(named, 'envelope_hash'), memberOf(snapshot, 'envelope_hash')],
              ['prev_hash', memberOf(named, 'prev_hash'), memberOf(snapshot, 'prev_hash')],
            ] as const)),
      ],
      inputs,
    ) ??
    (named === undefined
      ? open(TEXT.erasureHolds(index, at), inputs)
      : holds(TEXT.erasureNames(index, textOf(memberOf(named, 'created_at')), at), inputs))
  );
}

function inclusion({ proof }: VersionProof, inputs: Inputs): Done {
  if ('not' in proof) return open(TEXT.noProof(proof.not), inputs);
  const note = noteOf(proof.got);
  if (note === null) return open(TEXT.noCheckpoint, inputs);
  const checkpoint = checkpointOf(note);
  const erasure = memberOf(proof.got, 'erasure');
  if (erasure !== undefined) {
    included(erasure, leafHash(textOf(memberOf(erasure, 'entry'))), checkpoint, inputs);
    const hex = textOf(memberOf(proof.got, 'leaf_hash'));
    const leaf = Uint8Array.from(hex.match(/[0-9a-f]{2}/g) ?? [], (byte) => parseInt(byte, 16));
    return holds(TEXT.inclusionOfErased(included(proof.got, leaf, checkpoint, inputs), checkpoint.size), inputs);
  }
  const index = included(proof.got, leafHash(textOf(memberOf(proof.got, 'entry'))), checkpoint, inputs);
  return holds(TEXT.inclusionHolds(index, checkpoint.size), inputs);
}

/** Verifies that a leaf is in the tree. Returns its index. @throws TlogError */
function included(proof: JsonValue, leaf: Uint8Array, checkpoint: Checkpoint, inputs: Inputs): number {
  const index = Number(memberOf(proof, 'log_index'));
  const path = textsOf(memberOf(proof, 'inclusion'));
  inputs.push(
    ['leaf', toHex(leaf)],
    ['index', String(index)],
    ['path', path.join('\n')],
    ['size', String(checkpoint.size)],
    ['root', encodeBase64(checkpoint.root)],
  );
  verifyInclusion(
    leaf,
    index,
    checkpoint,
    path.map((hash) => decodeHash(hash, 'hash of the proof')),
  );
  return index;
}

/** Returns the checkpoint of a proof or of an erasure's proof, or null. */
export function noteOf(proof: JsonValue): string | null {
  const note = memberOf(memberOf(proof, 'erasure') ?? proof, 'checkpoint');
  return typeof note === 'string' ? note : null;
}

async function signedByLog({ proof, trusted, isTrustOfService }: VersionProof, inputs: Inputs): Promise<Done> {
  if ('not' in proof) return open(TEXT.noProof(proof.not), inputs);
  const note = noteOf(proof.got);
  if (note === null) return open(TEXT.noCheckpoint, inputs);
  const policy = await readPolicy(trusted);
  inputs.push(['note', note], ['keys', policy.logs.map(({ key }) => formatVerifierKey(key)).join('\n')]);
  const verified = await requireCheckpoint(note, ofLogAlone(policy), 'The checkpoint');
  const { signed_by: signed } = shownCheckpoint(verified);
  inputs.push(['signedBy', signed.map(({ key, at }) => TEXT.signedAt(key, at)).join('\n')]);
  const why = TEXT.checkpointHolds(verified.checkpoint.origin);
  return isTrustOfService ? open(`${why} ${TEXT.caveat}`, inputs) : holds(why, inputs);
}

async function witnessed({ proof, trusted, isTrustOfService }: VersionProof, inputs: Inputs): Promise<Done> {
  if ('not' in proof) return open(TEXT.noProof(proof.not), inputs);
  const note = noteOf(proof.got);
  if (note === null) return open(TEXT.noCheckpoint, inputs);
  const policy = await readPolicy(trusted);
  inputs.push(['witnessKeys', policy.witnesses.map(({ key }) => formatVerifierKey(key)).join('\n')]);
  if (policy.quorum === null) return open(TEXT.noWitness, inputs);
  const { cosigned_by: cosigned } = shownCheckpoint(await requireCheckpoint(note, policy, 'The checkpoint'));
  inputs.push(['cosignedBy', cosigned.map(({ key, at }) => TEXT.signedAt(key, at)).join('\n')]);
  const why = TEXT.witnessesHold(cosigned.length);
  return isTrustOfService ? open(`${why} ${TEXT.caveat}`, inputs) : holds(why, inputs);
}

async function goesOn({ proof, trusted, kept, consistency }: VersionProof, inputs: Inputs): Promise<Done> {
  if ('not' in proof) return open(TEXT.noProof(proof.not), inputs);
  const note = noteOf(proof.got);
  if (note === null) return open(TEXT.noCheckpoint, inputs);
  if (kept === null) return open(TEXT.nothingKept, inputs);
  inputs.push(['kept', kept], ['note', note]);
  const shown = checkpointOf(note);
  const policy = ofLogAlone(await readPolicy(trusted));
  let known: Checkpoint;
  try {
    known = (await requireCheckpoint(kept, policy, 'The checkpoint')).checkpoint;
  } catch (error) {
    return open(TEXT.keptUnreadable(error instanceof Error ? error.message : String(error)), inputs);
  }
  if (known.size === shown.size) {
    return equalBytes(known.root, shown.root)
      ? holds(TEXT.same(shown.size), inputs)
      : fails(TEXT.twoHistories(shown.size), inputs);
  }
  const [older, newer] = known.size < shown.size ? [known, shown] : [shown, known];
  if (consistency !== null && 'not' in consistency) return fails(TEXT.noConsistency(consistency.not), inputs);
  const hashes = consistency?.got ?? [];
  inputs.push(['consistency', hashes.join('\n')]);
  verifyConsistency(
    older,
    newer,
    hashes.map((hash) => decodeHash(hash, 'hash of the consistency proof')),
  );
  return holds(TEXT.goesOn(older.size, newer.size), inputs);
}

/** Parses a checkpoint without verifying its signatures. */
function checkpointOf(note: string): Checkpoint {
  return parseCheckpoint(parseNote(note).text);
}

function ofLogAlone(policy: Policy): Policy {
  return { ...policy, witnesses: [], groups: [], quorum: null };
}

function firstFault(
  rows: readonly (readonly [what: string, found: JsonValue | undefined, expected: JsonValue | undefined])[],
  inputs: Inputs,
): Done | undefined {
  const row = rows.find(([, found, expected]) => found !== expected);
  return row && fails(TEXT.says(row[0], JSON.stringify(row[1]) ?? '–', JSON.stringify(row[2]) ?? '–'), inputs);
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

/** Returns a UUID in lower case, for comparison. */
function lower(value: JsonValue | undefined): JsonValue | undefined {
  return typeof value === 'string' ? value.toLowerCase() : value;
}
