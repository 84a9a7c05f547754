import { DomainError, patchOperationSchema, type SubjectRef, UPDATE_STATUSES } from '@iss/domain';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from '../../../http/answer/snapshot-header.view';
import { EXAMPLE_IDS } from '../../../http/describe/example-ids';
import { alias } from '../../../http/describe/field';
import { answer, type Route } from '../../../http/describe/openapi';
import { view, type ViewOf } from '../../../http/describe/view';
import { pageAnswer } from '../../../http/lists/paging';
import {
  arrayWith,
  line,
  oneOf,
  PAGE,
  principalId,
  subjectId,
  subjectType,
  time,
  uuid,
  version,
} from '../../../http/request/fields';
import { body as shapeOf, query, type SentOf } from '../../../http/request/shape';
import { Envelope, ENVELOPE_EXAMPLE, PatchOperation } from '../snapshot/snapshot.openapi';
import type { Proposal } from './update.service';

const baseId = uuid.described('The snapshot on which it stands.');
const baseVersion = version.described('The version of that snapshot.');
const status = oneOf(UPDATE_STATUSES).described('Where it stands.');
const operations = arrayWith(PatchOperation.facts.sent);
const requestId = line(128).nullable().described('The proposer’s name for the proposal.');
const initiator = line(512).nullable().described('Who wanted it, in the proposer’s words.');

/** Specification, "Update (proposal)"; its operations as they are stored (contract, "Propose, both"). */
export const Update = view('Update', {
  update_id: uuid.described('The id of the update.'),
  subject_type: subjectType,
  subject_id: subjectId,
  base_snapshot_id: baseId,
  base_snapshot_version: baseVersion,
  patch_ops: operations.asText().described('The operations, as they were sent.'),
  status,
  request_id: requestId,
  initiated_by: initiator,
  proposed_by: principalId.described('Who proposed it.'),
  created_at: time.described('When it was proposed.'),
  applied_at: time.nullable().described('When it was applied; null: it was not.'),
  applied_snapshot_id: uuid.nullable().described('The snapshot that it became; null: it was not applied.'),
  withdrawn_at: time.nullable().described('When it was withdrawn; null: it was not.'),
});

const { snapshot_id, snapshot_version, envelope_hash, prev_hash } = SnapshotHeader.fields;

/** What applying answers on the subject-level path (specification, "Updates", variant B). */
export const AppliedUpdate = view('AppliedUpdate', { snapshot_id, snapshot_version, envelope_hash, prev_hash });
export type AppliedUpdate = ViewOf<typeof AppliedUpdate>;

const PATCH_ALIASES = ['operations', 'ops'] as const;
const VARIANT_B_OPS = ['add', 'replace', 'remove'] as const;
const PATCH_EXAMPLE = [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Holding AG' }];

const patchOps = operations.example(PATCH_EXAMPLE);
const proposed = {
  subject_id: subjectId.example('acme-corp'),
  base_snapshot_version: baseVersion.example(1),
  request_id: requestId.optional().described('The same id again answers the first proposal.').example('req-0001'),
};
const PROPOSAL_EXAMPLE = {
  subject_id: 'acme-corp',
  base_snapshot_version: 1,
  patch_ops: PATCH_EXAMPLE,
  request_id: 'req-0001',
};
const RENAME = 'Change the legal name';

/** Body of a proposal on the tenant-level path (specification, "Updates", variant A), with every alias. */
export const ProposeUpdateBody = shapeOf(
  'ProposeUpdateBody',
  {
    subject_type: subjectType.example('organization'),
    subject_id: proposed.subject_id,
    base_snapshot_id: baseId.example(EXAMPLE_IDS.snapshot_id),
    base_snapshot_version: proposed.base_snapshot_version,
    patch_ops: patchOps.described('RFC 6902 operations, all six.'),
    operations: alias('patch_ops'),
    ops: alias('patch_ops'),
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
export const ProposeSubjectUpdateBody = shapeOf(
  'ProposeSubjectUpdateBody',
  {
    subject_id: proposed.subject_id.described("Must equal the path's."),
    base_snapshot_version: proposed.base_snapshot_version,
    patch_ops: arrayWith(patchOperationSchema('SubjectPatchOperation', VARIANT_B_OPS))
      .described('RFC 6902 operations: add, replace, remove.')
      .example(PATCH_EXAMPLE),
    request_id: proposed.request_id,
  },
  { rename: { summary: RENAME, value: PROPOSAL_EXAMPLE } },
);
export type ProposeSubjectUpdateBody = SentOf<typeof ProposeSubjectUpdateBody>;

/** Query of the lists of updates. */
export const UpdateListQuery = query({
  ...PAGE,
  status: status.optional().example('proposed').described('Absent: in every state.'),
});
export type UpdateListQuery = SentOf<typeof UpdateListQuery>;

/** Variant A: base named by id and version, every operation. */
export function proposalOf(body: ProposeUpdateBody): Proposal {
  return {
    subject: { subjectType: body.subject_type, subjectId: body.subject_id },
    baseSnapshotId: body.base_snapshot_id,
    baseSnapshotVersion: body.base_snapshot_version,
    patch: { ops: body.patch_ops, at: `/${PATCH_ALIASES.find((name) => body[name] !== undefined) ?? 'patch_ops'}` },
    requestId: body.request_id ?? null,
    initiatedBy: body.initiated_by ?? null,
  };
}

/** Variant B: base named by version, three operations. Throws `validation_error` unless the path's subject is meant. */
export function subjectProposalOf(subject: SubjectRef, body: ProposeSubjectUpdateBody): Proposal {
  if (body.subject_id !== subject.subjectId) {
    throw new DomainError('validation_error', "subject_id must equal the path's.", [
      { path: '/subject_id', message: "must equal the path's subject_id", code: 'mismatch' },
    ]);
  }
  return {
    subject,
    baseSnapshotId: null,
    baseSnapshotVersion: body.base_snapshot_version,
    patch: { ops: body.patch_ops, at: '/patch_ops', allowedOps: VARIANT_B_OPS },
    requestId: body.request_id ?? null,
    initiatedBy: null,
  };
}

export const PROPOSED = Update.of({
  updateId: EXAMPLE_IDS.update_id,
  subjectType: 'organization',
  subjectId: 'acme-corp',
  baseSnapshotId: EXAMPLE_IDS.snapshot_id,
  baseSnapshotVersion: 1,
  patchOps: JSON.stringify(PATCH_EXAMPLE),
  status: 'proposed',
  requestId: 'req-0001',
  initiatedBy: null,
  proposedBy: 'oidc:dev#alice',
  createdAt: new Date('2026-01-16T08:00:00Z'),
  appliedAt: null,
  appliedSnapshotId: null,
  withdrawnAt: null,
});

const APPLIED: AppliedUpdate = {
  snapshot_id: EXAMPLE_IDS.next_snapshot_id,
  snapshot_version: 2,
  envelope_hash: '28e139c59906799360e037034297c075c9172cf6cde20ac75b9a88841d97c438',
  prev_hash: SNAPSHOT_HEADER_EXAMPLE.envelope_hash,
};

export const APPLIED_ENVELOPE = {
  ...ENVELOPE_EXAMPLE,
  snapshot_id: APPLIED.snapshot_id,
  snapshot_version: 2,
  generated_at: '2026-01-16T09:00:00.000Z',
  attributes: {
    ...ENVELOPE_EXAMPLE.attributes,
    legal: { ...ENVELOPE_EXAMPLE.attributes.legal, legal_name: 'Acme Holding AG' },
  },
  audit: {
    created_by: 'oidc:dev#alice',
    created_at: '2026-01-16T09:00:00.000Z',
    source: 'entity_state_update',
    request_id: '4f6c0f0e-6a55-4a3c-9e67-0f8f6cf5a001',
  },
  diff: { format: 'rfc6902' as const, ops: PATCH_EXAMPLE },
};

/** What there is to say of each route, in either path family. */
export const PROPOSE: Route = {
  answers: {
    201: answer('The proposal; nothing is changed yet.', Update, PROPOSED),
    200: answer('The proposal stored earlier under the same request_id.', Update, PROPOSED),
  },
  errors: ['conflict'],
};
export const LIST: Route = { answers: { 200: pageAnswer('A page of updates.', Update, [PROPOSED], 50) } };
export const READ: Route = { answers: { 200: answer('The update.', Update, PROPOSED) }, errors: ['not_found'] };
export const WITHDRAW: Route = {
  description: 'Its proposer, or any `tenant_editor`. It can be applied no more.',
  answers: {
    200: answer('The withdrawn update.', Update, {
      ...PROPOSED,
      status: 'withdrawn',
      withdrawn_at: '2026-01-16T08:30:00.000Z',
    }),
  },
  errors: ['not_found', 'conflict'],
};
export const APPLY: Route = {
  answers: { 201: answer('The envelope of the new snapshot.', Envelope, APPLIED_ENVELOPE) },
  errors: ['not_found', 'conflict'],
};
export const APPLY_FOR_SUBJECT: Route = {
  answers: { 200: answer('The new snapshot.', AppliedUpdate, APPLIED) },
  errors: ['not_found', 'conflict'],
};
