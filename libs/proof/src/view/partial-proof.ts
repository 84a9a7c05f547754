import { getAt, parsePointer } from '@iss/domain/pure';
import type { Policy } from '@iss/tlog';
import { UnreadableError } from '../errors';
import { type EntryProof, requireIncluded, requireVersionEntry } from '../inclusion';
import { leafOf } from '../leaf';
import type { Members } from '../members';
import type { Proved } from '../report';
import { type Floor, requireCheckpoint, requireNotBackdated } from '../trust';
import { type PartialSnapshot, requireLoggedView, requirePartialContent } from './view';

/** Reads a partial snapshot. @throws UnreadableError */
export function readPartialSnapshot(snapshot: Members): PartialSnapshot {
  const [subject, view] = [snapshot.object('subject'), snapshot.object('view')];
  return {
    subject: { subject_type: subject.text('subject_type'), subject_id: subject.text('subject_id') },
    snapshot_id: snapshot.text('snapshot_id'),
    snapshot_version: snapshot.count('snapshot_version'),
    envelope_hash: snapshot.textOrNull('envelope_hash'),
    prev_hash: snapshot.textOrNull('prev_hash'),
    created_at: snapshot.text('created_at'),
    generated_at: snapshot.text('generated_at'),
    written_by: snapshot.textOrNull('written_by'),
    write_request_id: snapshot.textOrNull('write_request_id'),
    view: { payload: view.json('payload'), disclosures: view.texts('disclosures') },
    disclosed_paths: snapshot.texts('disclosed_paths'),
    envelope: snapshot.value('envelope'),
  };
}

/** Reads the proof of the entry of a view in the answer of `…/log-proof`; null if the entry of the version names the view. */
export function readViewProof(proof: Members): EntryProof | null {
  if (!proof.has('view') || proof.value('view') === null) return null;
  return readEntryProof(proof.object('view'));
}

/**
 * Verifies a partial snapshot with its `log_proof`, the answer of `…/log-proof`.
 *
 * @param since an earlier checkpoint. A later entry must not have an earlier time
 * @throws VerificationError
 */
export async function verifyPartialProof(answer: Members, policy: Policy, since: Floor | null): Promise<Proved> {
  const snapshot = readPartialSnapshot(answer);
  const { snapshot_version: version, subject, created_at: createdAt = '' } = snapshot;
  const where = `Version ${version}:`;
  const view = requirePartialContent(where, snapshot);
  if (!answer.has('log_proof')) {
    const how = 'Put the answer of …/log-proof into it as the member log_proof.';
    throw new UnreadableError('not_in_log', `The partial snapshot has no proof from the log. ${how}`);
  }
  const proof = answer.object('log_proof');
  const note = proof.textOrNull('checkpoint');
  if (note === null) throw new UnreadableError('not_in_log', 'The proof has no checkpoint, so it is not signed.');
  const verified = await requireCheckpoint(note, policy, 'The checkpoint');
  const { checkpoint } = verified;
  const entryProof = readEntryProof(proof);
  const entry = requireVersionEntry(where, entryProof, snapshot);
  requireIncluded(`${where} its proof`, leafOf(entryProof), entryProof, checkpoint);
  requireLoggedView(where, { view, entry, own: readViewProof(proof), snapshot, checkpoint });
  requireNotBackdated(where, entryProof.log_index, createdAt, since);
  const { subject_type: type, subject_id: id } = subject;
  const { written_by: writer } = entry;
  // Nothing binds a path without a value.
  const paths = snapshot.disclosed_paths.filter((path) => getAt(snapshot.envelope, parsePointer(path)) !== undefined);
  return {
    verified,
    shown: [
      ['Subject', `${type} ${id}, of the tenant ${entry.tenant_id}`],
      ['Version', `${version}, entry ${entryProof.log_index}`],
      ['Written', `${createdAt} by the clock of the service${typeof writer === 'string' ? `, by ${writer}` : ''}`],
      ['Shown', paths.join(', ')],
      ['Its hash', `${snapshot.envelope_hash}, which the shown part does not give`],
      ['Its view', view.hash],
    ],
    notProved: [
      'The rest of the version. Only the shown part is proved.',
      'That a value that is not shown does not exist. The service may have left it out.',
    ],
    json: {
      ...{ kind: 'partial_snapshot', subject, snapshot_version: version, tenant_id: entry.tenant_id },
      ...{ log_index: entryProof.log_index, envelope_hash: snapshot.envelope_hash },
      ...{ view_hash: view.hash, disclosed_paths: paths },
    },
  };
}

function readEntryProof(proof: Members): EntryProof {
  return { ...proof.logged(), log_index: proof.count('log_index'), inclusion: proof.texts('inclusion') };
}
