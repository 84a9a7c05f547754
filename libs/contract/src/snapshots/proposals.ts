import { type PatchOperation, patchOperation, patchOperationSchema } from '@iss/domain';
import { arrayWith, line, subjectId, subjectType, uuid, version } from '../describe/fields';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { changeKind } from './snapshot-header';
import { alias } from '../describe/field';
import { body, type SentOf } from '../describe/shape';

export const baseId = uuid.described('The snapshot that the update changes.');
export const baseVersion = version.described('The version of that snapshot.');
export const patchOperations = arrayWith(patchOperation.schema);
export const requestId = line(128).nullable().described('The proposer’s id for the proposal.');
export const initiator = line(512).nullable().described('The initiator of the change, in the proposer’s words.');
export const VARIANT_B_OPS = ['add', 'replace', 'remove'] as const satisfies readonly PatchOperation['op'][];
export const PATCH_EXAMPLE = [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Holding AG' }];
const patchOps = patchOperations.example(PATCH_EXAMPLE);

const proposed = {
  change_kind: changeKind.optional().example('correction'),
  subject_id: subjectId.example('acme-corp'),
  base_snapshot_version: baseVersion.example(1),
  request_id: requestId
    .optional()
    .described('Sending the same id again returns the first proposal.')
    .example('req-0001'),
};

const PROPOSAL_EXAMPLE = {
  subject_id: 'acme-corp',
  base_snapshot_version: 1,
  patch_ops: PATCH_EXAMPLE,
  request_id: 'req-0001',
};

const RENAME = 'Change the legal name';

/** Body of a proposal on the tenant-level path (specification, "Updates", variant A), with every alias. */
export const ProposeUpdateBody = body(
  'ProposeUpdateBody',
  {
    subject_type: subjectType.example('organization'),
    subject_id: proposed.subject_id,
    base_snapshot_id: baseId.example(EXAMPLE_IDS.snapshot_id),
    base_snapshot_version: proposed.base_snapshot_version,
    patch_ops: patchOps.described('RFC 6902 operations; all six are allowed.'),
    operations: alias('patch_ops'),
    ops: alias('patch_ops'),
    change_kind: proposed.change_kind,
    request_id: proposed.request_id,
    initiated_by: initiator.optional().example('registry-sync'),
    initiator: alias('initiated_by'),
  },
  {
    rename: {
      summary: RENAME,
      value: { ...PROPOSAL_EXAMPLE, subject_type: 'organization', base_snapshot_id: EXAMPLE_IDS.snapshot_id },
    },
  },
);
export type ProposeUpdateBody = SentOf<typeof ProposeUpdateBody>;

/** Body of a proposal on the subject-level path (specification, "Updates", variant B). */
export const ProposeSubjectUpdateBody = body(
  'ProposeSubjectUpdateBody',
  {
    subject_id: proposed.subject_id.described('Must equal the subject_id in the path.'),
    base_snapshot_version: proposed.base_snapshot_version,
    patch_ops: arrayWith(patchOperationSchema('SubjectPatchOperation', VARIANT_B_OPS))
      .described('RFC 6902 operations: add, replace, remove.')
      .example(PATCH_EXAMPLE),
    change_kind: proposed.change_kind,
    request_id: proposed.request_id,
  },
  { rename: { summary: RENAME, value: PROPOSAL_EXAMPLE } },
);
export type ProposeSubjectUpdateBody = SentOf<typeof ProposeSubjectUpdateBody>;
