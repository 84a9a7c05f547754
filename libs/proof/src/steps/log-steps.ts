import { isJsonObject, type JsonValue } from '@iss/domain/pure';
import { type Checkpoint, encodeBase64, parseCheckpoint, parseNote, toHex } from '@iss/tlog';
import { requireMembers, textOf } from '../content';
import {
  bytesOfHex,
  requireErasedVersion,
  requireErasureEntry,
  requireIncluded,
  requireVersionEntry,
} from '../inclusion';
import { leafOf, type LoggedText } from '../leaf';
import { Members } from '../members';
import { readPartialSnapshot, readViewProof } from '../view/partial-proof';
import { requireLoggedView, requirePartialContent } from '../view/view';
import { headerOf, whereOf } from './content-steps';
import { type Fetched, type Done, holds, type Inputs, open, type Prover, type VersionEvidence } from './step';

/** The proof of a version, or of an erased version with that of its erasure. */
interface LogAnswer {
  readonly answer: Members;
  readonly erasure: Members | null;
  /** The signed checkpoint; null if the log no longer signs that size. */
  readonly note: string | null;
}

/** Reads the answer of the log. A missing answer leaves the step open. */
function logAnswer(proof: Fetched<JsonValue>): LogAnswer | string {
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

/** Makes a step of the answer of the log. A missing answer leaves it open. */
const ofLog =
  (step: (log: LogAnswer, evidence: VersionEvidence, inputs: Inputs) => Promise<Done> | Done): Prover =>
  (evidence, inputs) => {
    const log = logAnswer(evidence.proof);
    return typeof log === 'string' ? open(log, inputs) : step(log, evidence, inputs);
  };

/** Makes a step of the checkpoint of a proof. A missing checkpoint leaves it open. */
export const ofCheckpoint = (
  step: (note: string, evidence: VersionEvidence, inputs: Inputs, log: LogAnswer) => Promise<Done> | Done,
): Prover =>
  ofLog((log, evidence, inputs) =>
    log.note === null
      ? open('The response has no checkpoint: the log no longer signs that size.', inputs)
      : step(log.note, evidence, inputs, log),
  );

/** Checks that the log names the view of a partial snapshot. */
export const proveView = ofCheckpoint((note, evidence, inputs, { answer }) => {
  const where = whereOf(evidence);
  const snapshot = readPartialSnapshot(Members.of('The snapshot', evidence.snapshot));
  const entry = requireVersionEntry(where, answer.logged(), headerOf(evidence));
  const own = readViewProof(answer);
  const view = requirePartialContent(where, snapshot);
  inputs.push(['computed', view.hash], ...entryInputs(own ?? answer.logged()));
  requireLoggedView(where, { view, entry, own, snapshot, checkpoint: checkpointOf(note) });
  const how = 'view_hash' in entry ? 'The entry of the version' : 'An entry of its own';
  return holds(`${how} names the hash of the view.`, inputs);
});

/** Checks that the entry of the log is that of the version. */
export const proveEntry = ofLog(({ answer, erasure }, evidence, inputs) => {
  if (erasure !== null) return proveErasure(evidence, answer, erasure, inputs);
  const logged = answer.logged();
  const leaf = toHex(leafOf(logged));
  inputs.push(...entryInputs(logged), ['leaf', leaf]);
  const entry = requireVersionEntry(whereOf(evidence), logged, headerOf(evidence));
  requireMembers('The proof', { leaf_hash: answer.text('leaf_hash') }, { leaf_hash: leaf });
  const { tenant_id: tenant, created_at: at } = entry;
  return holds(`The service stored it for the tenant ${tenant} at ${textOf(at)}, by its own clock.`, inputs);
});

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

/** Checks that the entry is in the tree of the checkpoint. */
export const proveInclusion = ofCheckpoint((note, _, inputs, { answer, erasure }) => {
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
});

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

/** Parses a checkpoint without verifying its signatures. */
export function checkpointOf(note: string): Checkpoint {
  return parseCheckpoint(parseNote(note).text);
}
