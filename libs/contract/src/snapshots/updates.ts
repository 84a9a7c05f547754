import { RULES, UPDATE_STATUSES } from '@iss/domain';
import * as f from '../describe/fields';
import { view, type ViewOf } from '../describe/view';
import {
  baseId,
  baseVersion,
  initiator,
  PATCH_EXAMPLE,
  patchOperations,
  ProposeSubjectUpdateBody,
  ProposeUpdateBody,
  requestId,
} from './proposals';
import { answer, operations, type Responses } from '../describe/operation';
import { changeKind, SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from './snapshot-header';
import { query, type SentOf } from '../describe/shape';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { Envelope, ENVELOPE_EXAMPLE } from './snapshots';
import { pageAnswer } from '../describe/page';
import { LIST_LIMITS } from '../describe/page-limits';

const status = f.oneOf(UPDATE_STATUSES).described('The state of the update.');

/** Specification, "Update (proposal)". Its operations are shown as stored (contract, "Propose, both"). */
export const Update = view('Update', {
  update_id: f.uuid.described('The id of the update.'),
  subject_type: f.subjectType,
  subject_id: f.subjectId,
  name: f.subjectName,
  base_snapshot_id: baseId,
  base_snapshot_version: baseVersion,
  patch_ops: patchOperations
    .asText()
    .nullable()
    .described('The operations as they were sent. Null if a version that they changed or created was erased.'),
  change_kind: changeKind,
  status,
  request_id: requestId,
  initiated_by: initiator,
  proposed_by: f.principalId.described('The principal that proposed the update.'),
  created_at: f.time.described('When the update was proposed.'),
  applied_at: f.time.nullable().described('When the update was applied; null if it was not.'),
  applied_snapshot_id: f.uuid.nullable().described('The snapshot that the update created; null if it was not applied.'),
  withdrawn_at: f.time.nullable().described('When the update was withdrawn; null if it was not.'),
});

/** The data of events: all except the operations, which contain attributes. */
export const UpdateData = view(
  'UpdateData',
  {
    update_id: f.uuid.described('The id of the update.'),
    subject: f.SubjectRef.fromRecord(),
    base_snapshot_id: baseId,
    base_snapshot_version: baseVersion,
    status: status.described('The state of the update after this event.'),
    proposed_by: f.principalId.described('The principal that proposed the update.'),
    applied_snapshot_id: f.uuid
      .nullable()
      .described('The snapshot that the update created; null unless it is `applied`.'),
    applied_snapshot_version: f.version
      .nullable()
      .described('The version of that snapshot; null unless it is `applied`.'),
  },
  'The update, without its operations.',
);

const { snapshot_id, snapshot_version, envelope_hash, prev_hash } = SnapshotHeader.fields;

/** The response to applying on the subject-level path (specification, "Updates", variant B). */
export const AppliedUpdate = view('AppliedUpdate', { snapshot_id, snapshot_version, envelope_hash, prev_hash });
export type AppliedUpdate = ViewOf<typeof AppliedUpdate>;

export const UpdateListQuery = query({
  ...f.PAGE,
  status: status.optional().example('proposed').described('Absent: all states.'),
});
export type UpdateListQuery = SentOf<typeof UpdateListQuery>;

export const PROPOSED = Update.of({
  updateId: EXAMPLE_IDS.update_id,
  subjectType: 'organization',
  subjectId: 'acme-corp',
  baseSnapshotId: EXAMPLE_IDS.snapshot_id,
  baseSnapshotVersion: 1,
  patchOps: JSON.stringify(PATCH_EXAMPLE),
  changeKind: 'change',
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
    request_id: EXAMPLE_IDS.request_id,
  },
  diff: { format: 'rfc6902' as const, ops: PATCH_EXAMPLE },
};

/** Documents each route, in either path family. */
const PROPOSE: Responses = {
  answers: {
    201: answer('The proposal. Nothing has changed yet.', Update, PROPOSED),
    200: answer('The proposal that was stored earlier under the same request_id.', Update, PROPOSED),
  },
  errors: ['conflict', 'erased', 'damaged'],
};

const LIST: Responses = {
  answers: { 200: pageAnswer('A page of updates.', Update, [{ ...PROPOSED, name: 'Acme Corporation AG' }]) },
};

const READ: Responses = { answers: { 200: answer('The update.', Update, PROPOSED) }, errors: ['not_found'] };

const WITHDRAW: Responses = {
  description: 'Allowed for the proposer and for any `tenant_editor`. A withdrawn update cannot be applied.',
  answers: {
    200: answer('The withdrawn update.', Update, {
      ...PROPOSED,
      status: 'withdrawn',
      withdrawn_at: '2026-01-16T08:30:00.000Z',
    }),
  },
  errors: ['not_found', 'conflict'],
};

export const UPDATES = operations('Updates', '/v1/tenants/{tenant_id}', {
  proposeUpdate: {
    route: 'POST /entity-state-updates',
    summary: 'Propose a patch to the latest snapshot, with all RFC 6902 operations',
    who: RULES.proposeUpdate,
    body: ProposeUpdateBody,
    ...PROPOSE,
  },
  listUpdates: {
    route: 'GET /entity-state-updates',
    summary: 'List the updates of the tenant, newest first',
    who: RULES.readUpdates,
    query: UpdateListQuery,
    page: LIST_LIMITS,
    ...LIST,
  },
  getUpdate: {
    route: 'GET /entity-state-updates/{update_id}',
    summary: 'Read an update',
    who: RULES.readUpdates,
    ...READ,
  },
  applyUpdate: {
    route: 'POST /entity-state-updates/{update_id}/apply',
    summary: 'Apply an update: write the next snapshot and return its envelope',
    who: RULES.applyUpdate,
    answers: { 201: answer('The envelope of the new snapshot.', Envelope, APPLIED_ENVELOPE) },
    errors: ['not_found', 'conflict', 'erased', 'damaged'],
  },
  withdrawUpdate: {
    route: 'POST /entity-state-updates/{update_id}/withdraw',
    summary: 'Withdraw an update that is still proposed',
    who: RULES.withdrawUpdate,
    ...WITHDRAW,
  },
  proposeSubjectUpdate: {
    route: 'POST /subjects/{subject_type}/{subject_id}/updates',
    summary: "Propose a patch to a subject's latest snapshot: add, replace, remove",
    who: RULES.proposeUpdate,
    body: ProposeSubjectUpdateBody,
    ...PROPOSE,
  },
  listSubjectUpdates: {
    route: 'GET /subjects/{subject_type}/{subject_id}/updates',
    summary: 'List the updates of a subject, newest first',
    who: RULES.readSubjectUpdates,
    query: UpdateListQuery,
    page: LIST_LIMITS,
    ...LIST,
  },
  getSubjectUpdate: {
    route: 'GET /subjects/{subject_type}/{subject_id}/updates/{update_id}',
    summary: 'Read an update of a subject',
    who: RULES.readSubjectUpdates,
    ...READ,
  },
  applySubjectUpdate: {
    route: 'POST /subjects/{subject_type}/{subject_id}/updates/{update_id}/apply',
    summary: 'Apply an update of a subject: write the next snapshot and return its hashes',
    who: RULES.applyUpdate,
    answers: { 200: answer('The new snapshot.', AppliedUpdate, APPLIED) },
    errors: ['not_found', 'conflict', 'erased', 'damaged'],
  },
  withdrawSubjectUpdate: {
    route: 'POST /subjects/{subject_type}/{subject_id}/updates/{update_id}/withdraw',
    summary: 'Withdraw an update of a subject that is still proposed',
    who: RULES.withdrawUpdate,
    ...WITHDRAW,
  },
});
