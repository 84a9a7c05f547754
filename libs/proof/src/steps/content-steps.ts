import { canonicalize, isJsonObject, type JsonValue } from '@iss/domain/pure';
import { encodeUtf8, sha256, toHex } from '@iss/tlog';
import { type LoggedVersion, requireContent, requireMembers, textOf } from '../content';
import { Members } from '../members';
import { readPartialSnapshot } from '../view/partial-proof';
import { requirePartialContent } from '../view/view';
import { type ContentEvidence, type Done, fails, holds, type Inputs, open, type VersionEvidence } from './step';

/** Returns whether a snapshot shows only a part of its version. */
export function isPartial(snapshot: JsonValue | undefined): boolean {
  return isJsonObject(snapshot) && Object.hasOwn(snapshot, 'view');
}

export const whereOf = ({ version }: ContentEvidence): string => `Version ${version}:`;

/** Returns the header members that the service states, of the requested subject. */
export function headerOf(evidence: ContentEvidence): LoggedVersion {
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

const hashOf = (value: JsonValue): string => toHex(sha256(encodeUtf8(canonicalize(value))));

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

/** Checks that the version names the hash of the previous one. @throws VerificationError */
export function proveChain({ snapshot, version, previous }: VersionEvidence, inputs: Inputs): Done {
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
