import {
  answeredRequests,
  applyUpdate,
  type CheckedLink,
  type CheckedSnapshot,
  checkLink,
  checkSnapshot,
  type DiffOfTexts,
  diffTexts,
  discloseView,
  type EnvelopeDiff,
  type EnvelopeSummary,
  holdToPolicy,
  type JsonValue,
  listProvenance,
  type MadeVersion,
  parseJson,
  type PartialView,
  type PatchOnBase,
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
  type ViewToDisclose,
} from '@iss/domain';
import { type VrfGroup, type VrfKeys, vrfProve, type VrfProved } from '@iss/map';
import { loadSodiumGroup } from '@iss/map/sodium';
import { encodeBase64, inclusionProofs, nodesIn } from '@iss/tlog';
import type { ItemFields } from '@iss/contract';
import { outlineOf } from './outline';
import { type Proposal, readProposal, type SentProposal } from './proposal';

/** A body as it was sent. */
export interface SentBody {
  bytes: Uint8Array;
  maxDepth: number;
}

/** The leaves whose inclusion is to be proved, and the tiles that the proofs need. */
export interface InclusionsToProve {
  indexes: readonly number[];
  /** Number of leaves in the tree. */
  size: number;
  tiles: readonly { level: number; index: number; hashes: Uint8Array }[];
}

/** The inputs of the VRF of the map. The keys must never be logged. */
export interface NumbersToProve {
  keys: VrfKeys;
  inputs: readonly Uint8Array[];
}

/** The input and the result of each task. Both can be passed between threads. */
export interface Tasks {
  /**
   * Returns the parts of a body that its shape needs. `fields` are the names in the shape, `items` those in nested
   * shapes.
   */
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
  disclose_view: [input: ViewToDisclose, result: PartialView];
  check_snapshot: [input: StoredSnapshot, result: CheckedSnapshot];
  check_links: [input: readonly StoredSnapshot[], result: CheckedLink[]];
  /**
   * Returns each proof as the JSON text of an array of base64. Passing it between threads costs less than passing its
   * hashes.
   */
  prove_inclusions: [input: InclusionsToProve, result: string[]];
  prove_numbers: [input: NumbersToProve, result: VrfProved[]];
}
export type TaskName = keyof Tasks;
export type InputOf<Name extends TaskName> = Tasks[Name][0];
export type ResultOf<Name extends TaskName> = Tasks[Name][1];

interface Task<Input, Result> {
  /** Awaited before the first run in a thread. */
  prepare?: () => Promise<void>;
  /** Pure: gives the same result in any thread. Any error other than a `DomainError` is a bug. */
  run: (input: Input) => Result;
  /** The size of input and output, in bytes or characters. */
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
  disclose_view: { run: discloseView, size: ({ text }) => VIEW_WEIGHT * text.length },
  check_snapshot: { run: checkSnapshot, size: ({ envelopeText }) => envelopeText?.length ?? 0 },
  check_links: {
    run: (snapshots) => snapshots.map(checkLink),
    size: (snapshots) => snapshots.reduce((sum, { envelopeText }) => sum + (envelopeText?.length ?? 0), 0),
  },
  prove_inclusions: { run: proveInclusions, size: sizeOfProofs },
  prove_numbers: { prepare: loadGroup, run: proveNumbers, size: ({ inputs }) => inputs.length * VRF_WEIGHT },
};

/** Hashing each value takes longer than other work on a text. */
const VIEW_WEIGHT = 4;

/** One proof takes about 0.4 ms, so several are made in a thread. */
const VRF_WEIGHT = 40_000;

let group: VrfGroup | undefined;

async function loadGroup(): Promise<void> {
  group = await loadSodiumGroup();
}

function proveNumbers({ keys, inputs }: NumbersToProve): VrfProved[] {
  const loaded = group;
  if (loaded === undefined) throw new Error('the group of the VRF is not loaded');
  return inputs.map((input) => vrfProve(loaded, keys, input));
}

function proveInclusions({ indexes, size, tiles }: InclusionsToProve): string[] {
  // Proofs of neighbours share most of their hashes.
  const texts = new Map<Uint8Array, string>();
  const textOf = (hash: Uint8Array): string => {
    const text = texts.get(hash) ?? encodeBase64(hash);
    texts.set(hash, text);
    return text;
  };
  return inclusionProofs(indexes, size, nodesIn(tiles)).map((proof) => JSON.stringify(proof.map(textOf)));
}

/** The length of a hash in base64 with its quotes and comma. */
const HASH_TEXT_LENGTH = 47;

/** Adds up the tiles and the proofs. Each proof has one hash per level of the tree. */
function sizeOfProofs({ indexes, size, tiles }: InclusionsToProve): number {
  const ofTiles = tiles.reduce((sum, { hashes }) => sum + hashes.length, 0);
  return ofTiles + indexes.length * Math.ceil(Math.log2(size)) * HASH_TEXT_LENGTH;
}

/** The start of a copy operation in canonical text. Inside a string, the quotes would be escaped. */
const COPY = '"op":"copy"';

/**
 * Returns the size of the texts that a patch reads, doubled for each copy, because a copy may copy the result of the
 * previous one.
 */
function sizeOfPatched({ base, patchOps }: PatchOnBase): number {
  let size = base.length + patchOps.length;
  for (let at = patchOps.indexOf(COPY); at >= 0; at = patchOps.indexOf(COPY, at + 1)) size *= 2;
  return size;
}

/** Returns the size of the texts and of the paths that are searched in them. */
function sizeOfAsked(versions: readonly VersionAsked[]): number {
  let size = 0;
  for (const { text, asked } of versions) {
    size += text.length;
    for (const { paths } of asked) for (const path of paths) size += path.length;
  }
  return size;
}
