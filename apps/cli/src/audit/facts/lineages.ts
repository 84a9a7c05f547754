import { apiTime } from '../log/entry-text';
import { type AuditReader, isText, type Row } from '../database';
import { ARCHIVED, checkHash, checkText, TEXT_COLUMN } from './envelopes';
import { type Checked, nothingChecked, report } from '../findings';
import { checkName, NAME_COLUMN } from './names';
import { checkPatch, UPDATE_COLUMNS, UPDATE_OF_VERSION } from './patches';
import { CLOCK_SKEW_MS } from '../log/times';
import { checkView, VIEW_COLUMNS, VIEW_OF_VERSION } from './views';

/** Checks all snapshots of a range of subjects without the log. */
export interface LineagesTask {
  readonly kind: 'lineages';
  /** A subject_key. `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

const rowsOf = (source: string): string => `
SELECT n.subject_key, n.snapshot_version, n.snapshot_id, n.tenant_id, n.generated_at, n.created_at,
       n.created_at > now() + interval '${CLOCK_SKEW_MS} ms', encode(n.envelope_hash, 'hex'), encode(n.prev_hash, 'hex'),
       ${TEXT_COLUMN}, s.subject_type, s.subject_id, s.owner_tenant_id, encode(p.envelope_hash, 'hex'), p.created_at,
       n.envelope IS NULL AND n.pack_id IS NULL AND EXISTS (
         SELECT FROM erasures er WHERE er.erasure_id = n.erasure_id AND er.subject_key = n.subject_key AND er.status = 'erased'
                                   AND n.snapshot_version = ANY (er.versions)),
       ${VIEW_COLUMNS},
       ${NAME_COLUMN}, n.change_kind,
       ${UPDATE_COLUMNS}
  FROM ${source}
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = n.subject_key LIMIT 1) s ON true
  LEFT JOIN LATERAL (SELECT p.envelope_hash, p.created_at, p.snapshot_id, p.envelope, p.pack_id FROM snapshots p
                      WHERE p.subject_key = n.subject_key AND p.snapshot_version = n.snapshot_version - 1 LIMIT 1) p ON true
  ${VIEW_OF_VERSION}
  ${UPDATE_OF_VERSION}`;

const OF_SUBJECTS = rowsOf(`(SELECT * FROM snapshots n WHERE n.subject_key >= $1 AND n.subject_key < $2
   ORDER BY n.subject_key, n.snapshot_version OFFSET 0) n`);

const WAITING = rowsOf(`(SELECT DISTINCT subject_key, snapshot_version FROM log_waiting WHERE entry_type = 1) w
  JOIN LATERAL (SELECT * FROM snapshots n
                 WHERE n.subject_key = w.subject_key AND n.snapshot_version = w.snapshot_version LIMIT 1) n ON true`);

/** Checks snapshots without a log: text, hash, link, gaps, tenant, times and updates. */
export async function checkLineages(reader: AuditReader, { from, to }: LineagesTask): Promise<Checked> {
  const checked = nothingChecked();
  await reader.each(OF_SUBJECTS, [from, to], (row) => checkRow(checked, row));
  return checked;
}

/** Checks the snapshots that wait to be logged in the same way. */
export async function checkWaiting(reader: AuditReader): Promise<Checked> {
  const checked = nothingChecked();
  await reader.each(WAITING, [], (row) => checkRow(checked, row));
  return checked;
}

function checkRow(checked: Checked, row: Row): void {
  const [key, version, id, tenantId, generatedAt, created, isToCome, envelopeHash, prevHash, envelope, ...rest] = row;
  const [subjectType, subjectId, owner, parentHash, parentCreated, isErased, viewHash, viewSecret, name, changeKind] =
    rest;
  const where = `snapshot ${id}: version ${version} of ${subjectType} ${subjectId} (subject_key ${key})`;
  checked.snapshots++;
  if (!isText(subjectType) || !isText(subjectId)) {
    report(checked, 'fact_missing', where, 'subjects has no such row');
    return;
  }
  let value: unknown;
  if (envelope === ARCHIVED) checked.archived++;
  else if (isText(envelope)) {
    const text = { subjectType, subjectId, snapshotId: id, version, generatedAt, changeKind, envelopeHash, envelope };
    value = checkText(checked, where, text);
    // Imported snapshots have no hashes. After a version with a hash, a missing hash is wrong.
    if (isText(envelopeHash)) checkHash(checked, where, text);
    else if (isText(parentHash)) {
      report(checked, 'envelope_hash', where, 'it has no hash, but the previous version has one');
    }
  } else if (isErased !== 't') {
    report(checked, 'erased', where, 'the envelope is missing, and no erasure names it');
  }
  checkPatch(checked, where, row, value);
  const viewed = isText(envelope) ? value : null;
  checkView(checked, where, { envelope: viewed, envelopeHash, prevHash, viewHash, viewSecret });
  if (value !== undefined || !isText(envelope)) checkName(checked, where, name, value);
  if (owner !== tenantId) {
    report(checked, 'subject', where, `the subject belongs to the tenant ${owner}, the snapshot to ${tenantId}`);
  }
  const createdAt = apiTime(created ?? '');
  if (isToCome === 't') report(checked, 'time', where, `created_at ${createdAt} is in the future`);
  if (version === '1') {
    if (isText(prevHash)) report(checked, 'chain', where, 'version 1 has a prev_hash');
    return;
  }
  if (!isText(parentCreated)) {
    report(checked, 'version_gap', where, 'snapshots has no row of the previous version');
    return;
  }
  if (isText(envelopeHash) && prevHash !== parentHash) {
    report(checked, 'chain', where, `prev_hash is ${prevHash}, but the previous version has ${parentHash}`);
  }
  const parentCreatedAt = apiTime(parentCreated);
  if (Date.parse(createdAt) < Date.parse(parentCreatedAt) - CLOCK_SKEW_MS) {
    const what = `created_at ${createdAt} is before the previous version, ${parentCreatedAt}: back-dated`;
    report(checked, 'time', where, what);
  }
}
