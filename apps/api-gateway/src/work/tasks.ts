import {
  answeredRequests,
  applyUpdate,
  type CheckedLink,
  type CheckedSnapshot,
  checkLink,
  checkSnapshot,
  type DiffOfTexts,
  diffTexts,
  type EnvelopeDiff,
  type EnvelopeSummary,
  holdToPolicy,
  type JsonValue,
  listProvenance,
  type MadeVersion,
  type PatchOnBase,
  parseJson,
  type ProvenancePage,
  type ProvenanceRequest,
  readEnvelope,
  type SentEnvelope,
  type StoredSnapshot,
  summarizeEnvelope,
  type TextToHold,
  type TracedVersion,
  traceTexts,
  tryPatch,
  type UpdateToMake,
  type VersionAsked,
  type VersionToTrace,
} from '@iss/domain';
import { encodeBase64, inclusionProofs, nodesIn } from '@iss/tlog';
import { type ItemFields, outlineOf } from '../http/request/outline';
import { type Proposal, readProposal, type SentProposal } from '../modules/identity-state/updates/proposal';

/** A body as it was sent. */
export interface SentBody {
  bytes: Uint8Array;
  maxDepth: number;
}

/** Leaves of a tree whose inclusion is to be proved, and the tiles that it takes. */
export interface InclusionsToProve {
  indexes: readonly number[];
  /** Leaves of the tree. */
  size: number;
  tiles: readonly { level: number; index: number; hashes: Uint8Array }[];
}

/** What there is to do: what each task takes, and what it gives. Both can be sent from thread to thread. */
export interface Tasks {
  /** A body of fixed shape: what its shape looks at. `fields` are the names that the shape knows, `items` those of shapes in it. */
  read_body: [input: SentBody & { fields: readonly string[]; items: ItemFields }, result: JsonValue];
  read_envelope: [input: SentBody, result: SentEnvelope];
  read_proposal: [input: SentProposal, result: Proposal];
  try_patch: [input: PatchOnBase, result: void];
  apply_update: [input: UpdateToMake, result: MadeVersion];
  trace_version: [input: VersionToTrace, result: TracedVersion];
  hold_to_policy: [input: TextToHold, result: void];
  list_provenance: [input: ProvenanceRequest, result: ProvenancePage];
  answered_requests: [input: readonly VersionAsked[], result: boolean[][]];
  diff: [input: DiffOfTexts, result: EnvelopeDiff];
  summarize: [input: { text: string }, result: EnvelopeSummary];
  check_snapshot: [input: StoredSnapshot, result: CheckedSnapshot];
  check_links: [input: readonly StoredSnapshot[], result: CheckedLink[]];
  /** Gives each proof as the JSON text of an array of base64, which passes between threads at less cost than its hashes. */
  prove_inclusions: [input: InclusionsToProve, result: string[]];
}
export type TaskName = keyof Tasks;
export type InputOf<Name extends TaskName> = Tasks[Name][0];
export type ResultOf<Name extends TaskName> = Tasks[Name][1];

interface Task<Input, Result> {
  /** Pure: the same wherever it runs. What it throws, but for a `DomainError`, is a fault of ours. */
  run: (input: Input) => Result;
  /** What it reads and makes, in bytes or characters. */
  size: (input: Input) => number;
}

const ofBody = ({ bytes }: SentBody): number => bytes.length;

export const TASKS: { readonly [Name in TaskName]: Task<InputOf<Name>, ResultOf<Name>> } = {
  read_body: {
    run: ({ fields, items, ...body }) => outlineOf(parseJson(body.bytes, body), fields, items),
    size: ofBody,
  },
  read_envelope: { run: readEnvelope, size: ofBody },
  read_proposal: { run: readProposal, size: ofBody },
  try_patch: { run: tryPatch, size: sizeOfPatched },
  apply_update: { run: applyUpdate, size: sizeOfPatched },
  trace_version: { run: traceTexts, size: ({ base, text }) => base.length + text.length },
  hold_to_policy: { run: holdToPolicy, size: ({ base, text }) => (base?.length ?? 0) + text.length },
  list_provenance: { run: listProvenance, size: ({ text }) => text.length },
  answered_requests: { run: answeredRequests, size: sizeOfAsked },
  diff: { run: diffTexts, size: ({ from, to }) => from.length + to.length },
  summarize: { run: summarizeEnvelope, size: ({ text }) => text.length },
  check_snapshot: { run: checkSnapshot, size: ({ envelopeText }) => envelopeText?.length ?? 0 },
  check_links: {
    run: (snapshots) => snapshots.map(checkLink),
    size: (snapshots) => snapshots.reduce((sum, { envelopeText }) => sum + (envelopeText?.length ?? 0), 0),
  },
  prove_inclusions: { run: proveInclusions, size: sizeOfProofs },
};

function proveInclusions({ indexes, size, tiles }: InclusionsToProve): string[] {
  // Most hashes of a proof are those of its neighbour too.
  const texts = new Map<Uint8Array, string>();
  const textOf = (hash: Uint8Array): string => {
    const text = texts.get(hash) ?? encodeBase64(hash);
    texts.set(hash, text);
    return text;
  };
  return inclusionProofs(indexes, size, nodesIn(tiles)).map((proof) => JSON.stringify(proof.map(textOf)));
}

/** A hash in base64, its quotes and its comma. */
const HASH_TEXT_LENGTH = 47;

/** Adds up the tiles and the proofs, each with a hash for each level of the tree. */
function sizeOfProofs({ indexes, size, tiles }: InclusionsToProve): number {
  const ofTiles = tiles.reduce((sum, { hashes }) => sum + hashes.length, 0);
  return ofTiles + indexes.length * Math.ceil(Math.log2(size)) * HASH_TEXT_LENGTH;
}

/** As canonical text has it. In a string the quotes would be escaped. */
const COPY = '"op":"copy"';

/** Of texts that a patch reads, and as much again for each copy, which may copy what the one before it has made. */
function sizeOfPatched({ base, patchOps }: PatchOnBase): number {
  let size = base.length + patchOps.length;
  for (let at = patchOps.indexOf(COPY); at >= 0; at = patchOps.indexOf(COPY, at + 1)) size *= 2;
  return size;
}

/** Of texts, and of the paths that are looked for in them. */
function sizeOfAsked(versions: readonly VersionAsked[]): number {
  let size = 0;
  for (const { text, asked } of versions) {
    size += text.length;
    for (const { paths } of asked) for (const path of paths) size += path.length;
  }
  return size;
}
