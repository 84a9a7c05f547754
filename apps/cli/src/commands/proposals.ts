import { type api, patchOf, type Subject } from '@identity-state/client';
import { Failure, UsageError } from '../command';
import { shortValue } from '../service/leaves';
import type { Caller } from '../service/caller';
import { defineCall, defineList, listing } from '../service/define';
import { kindText } from '../service/change-text';
import { applyEdits, removalOf, settingOf } from '../service/edits';
import { evidenceText, isAttribution, readEvidence } from '../service/evidence';
import { OPTIONAL_SUBJECT, SUBJECT_ARGUMENT } from '../service/subject-name';
import { visible } from '../visible';

const STATUSES = ['proposed', 'applied', 'withdrawn'] as const satisfies readonly api.Update['status'][];
/** The most changed paths per row. */
const SHOWN_PATHS = 2;

const UPDATE = { about: 'Proposal id, from iss propose or iss proposals.', isShared: true } as const;

export const propose = defineCall({
  about:
    'The edits become a patch (RFC 6902) of the verified latest version. The evidence is added and linked to each changed value, or for a removed value to the enclosing object or array. If an array element moves, its evidence moves with it. The subject does not change until iss apply.',
  arguments: { subject: SUBJECT_ARGUMENT },
  options: {
    set: {
      value: 'PATH=JSON',
      about: 'New value, such as /attributes/legal/form=\'"plc"\'.',
      isRepeated: true,
      read: settingOf,
    },
    remove: { value: 'PATH', about: 'Value to remove.', isRepeated: true, read: removalOf },
    correction: { about: 'Correct an error: the world did not change.' },
    evidence: {
      value: 'FILE',
      about: 'JSON file with one item of evidence or a list.',
      isRepeated: true,
      read: readEvidence,
    },
  },
  check({ set, remove, evidence }) {
    if (set.length === 0 && remove.length === 0 && evidence.flat().length === 0)
      throw new UsageError('No change is named. Add --set PATH=JSON, --remove PATH or --evidence FILE.');
  },
  async call({ tenant }, { subject: { type, id }, set, remove, correction, evidence }) {
    const subject = tenant.subject(type, id);
    const base = await subject.latest();
    const patch = patchOf(base.envelope, applyEdits(base.envelope, [...remove, ...set]), evidence.flat());
    if (patch.length > 0) {
      const kind = correction ? ({ change_kind: 'correction' } as const) : {};
      return subject.propose({ base_snapshot_version: base.snapshot_version, patch_ops: patch, ...kind });
    }
    const version = visible(String(base.snapshot_version));
    throw new Failure(`Nothing would change: version ${version} already has these values.`);
  },
  text: (
    { update_id: updateId, base_snapshot_version: version, change_kind: kind, patch_ops: operations },
    { evidence },
  ) => [
    `Proposed ${updateId}, ${kind === 'correction' ? 'a correction ' : ''}based on version ${version}`,
    ...(operations ?? []).filter(({ path }) => !isAttribution(path)).map(operationText),
    ...(evidence.flat().length === 0 ? [] : [`  with ${evidenceText(evidence.flat())}`]),
    `To apply it: iss apply ${updateId}`,
  ],
});

function operationText({ op, path, value }: api.PatchOperation): string {
  return `  ${op} ${path}${value === undefined ? '' : ` ${shortValue(value)}`}`;
}

export const proposals = defineList({
  arguments: { subject: OPTIONAL_SUBJECT },
  options: {
    status: { value: 'STATUS', about: `${STATUSES.join(', ')} (default: proposed).`, choices: STATUSES },
  },
  list: ({ subject, status = 'proposed' }) =>
    listing({
      items: ({ tenant }) =>
        (subject === undefined ? tenant : tenant.subject(subject.type, subject.id)).updates({ status }),
      none: `There are no ${status} proposals.`,
      paint: { update: 'yellow' },
      columns: (update) => ({
        name: update.name,
        update: update.update_id,
        subject: `${update.subject_type}/${update.subject_id}@${update.base_snapshot_version}`,
        by: update.initiated_by ?? update.proposed_by,
        at: update.created_at,
        changes: changesText(update) + kindText(update.change_kind),
      }),
    }),
});

function changesText({ patch_ops: operations }: api.Update): string {
  if (operations === null) return 'erased';
  const paths = operations.map(({ path }) => path).filter((path) => path.startsWith('/attributes/'));
  if (paths.length === 0) return 'evidence only';
  return `${paths.slice(0, SHOWN_PATHS).map(visible).join(', ')}${paths.length > SHOWN_PATHS ? ', …' : ''}`;
}

export const apply = defineCall({
  about: 'It is refused if the subject has a newer version than the proposal. Then propose the change again.',
  arguments: { update: UPDATE },
  async call(caller, { update: updateId }) {
    const subject = await subjectOfUpdate(caller, updateId);
    const { subjectType, subjectId } = subject;
    return { applied: await subject.apply(updateId), name: `${subjectType}/${subjectId}` };
  },
  json: ({ applied }) => applied,
  text: ({ applied: { snapshot_version: version, envelope_hash: hash }, name }) =>
    `${name}@${version} written, sha256 ${hash ?? ''}`,
});

export const withdraw = defineCall({
  arguments: { update: UPDATE },
  call: async (caller, { update }) => (await subjectOfUpdate(caller, update)).withdraw(update),
  text: ({ subject_type: type, subject_id: id }) => `Withdrew the proposal on ${type}/${id}. The subject is unchanged.`,
});

/** Returns the subject of a proposal. */
async function subjectOfUpdate({ tenant }: Caller, updateId: string): Promise<Subject<object>> {
  const { subject_type: type, subject_id: id } = await tenant.update(updateId);
  return tenant.subject(type, id);
}
