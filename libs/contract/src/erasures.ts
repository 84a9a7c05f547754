import { CONFIRMATIONS, ERASURE_STATUSES, RULES } from '@iss/domain';
import * as f from './describe/fields';
import { field, listOf } from './describe/field';
import { part, type RecordOf, view, type ViewOf } from './describe/view';
import { body, query, type SentOf } from './describe/shape';
import { SNAPSHOT_HEADER_EXAMPLE } from './snapshots/snapshot-header';
import { EXAMPLE_IDS } from './describe/example-ids';
import { type ResponseFacts, answer, operations } from './describe/operation';
import { paged } from './describe/page';

const reference = f
  .prose(200)
  .nullable()
  .described('A reference to the request, such as a file number. Never put a name here.');

const logIndex = f.count
  .nullable()
  .described('The index of the erasure’s entry in the log; null until the log has it.');

const FIELDS = {
  erasure_id: f.uuid.described('The id of the erasure.'),
  tenant_id: f.tenantId,
  subject_type: f.subjectType,
  subject_id: f.subjectId,
  versions: listOf(f.version).described('The versions to erase, ascending, as they existed at the request.'),
  status: f.oneOf(ERASURE_STATUSES).described('The state of the erasure.'),
  confirmation: f
    .oneOf(CONFIRMATIONS)
    .described('`required` if a second human had to confirm the erasure: the tenant’s setting at the request.'),
  reason: f
    .prose(500)
    .nullable()
    .described(
      'The reason, for the human who confirms. Null once the erasure is no longer pending, because the service ' +
        'deletes it then.',
    ),
  reference,
  requested_by: f.principalId.described('The principal that requested the erasure.'),
  requested_at: f.time.described('When the erasure was requested.'),
  confirm_by: f.time.described('The deadline for the confirmation. After it, the erasure is `expired`.'),
  confirmed_by: f.principalId
    .nullable()
    .described('The principal that confirmed the erasure; null if nobody did or had to.'),
  confirmed_at: f.time.nullable().described('When the erasure was confirmed.'),
  cancelled_by: f.principalId.nullable().described('The principal that cancelled the erasure; null if nobody did.'),
  cancelled_at: f.time.nullable().described('When the erasure was cancelled.'),
  erased_at: f.time.nullable().described('When the content was destroyed; null if it was not.'),
  log_index: logIndex,
};

/** An erasure in a list. */
export const Erasure = view('Erasure', FIELDS);
export type Erasure = ViewOf<typeof Erasure>;

/** An erasure with the versions that it erased: the receipt, which the log proves. */
export const ErasureWithReceipt = view('ErasureReceipt', {
  ...FIELDS,
  erased_versions: listOf(
    part({
      snapshot_version: f.version,
      snapshot_id: f.uuid.described('The id of the version.'),
      envelope_hash: f.hash.nullable().described('The envelope hash of the erased content.'),
      prev_hash: f.hash.nullable().described('The envelope hash of the previous version; null for version 1.'),
      log_index: f.count.described('The index of the version’s entry in the log. The entry of the erasure names it.'),
    }),
  ).described('The remains of each erased version. Empty until the erasure is done.'),
  recipients: listOf(
    part({
      tenant_id: f.tenantId.described('The tenant that was shown one of the versions.'),
      first_at: f.time.described('The first read of the first such day.'),
      last_at: f.time.described('The first read of the last such day.'),
    }),
  ).described(
    'The other tenants that were shown one of the versions, according to the disclosures. Each gets ' +
      '`subject.erased`, even after its grant has ended. Empty until the erasure is done.',
  ),
});
export type ErasureWithReceipt = ViewOf<typeof ErasureWithReceipt>;

/** The versions to erase: `all`, or a list of numbers. The service checks the list. */
const versions = field<JsonVersions>({
  schema: {
    oneOf: [
      { type: 'string', enum: ['all'] },
      { type: 'array', minItems: 1, items: { type: 'integer', minimum: 1 } },
    ],
  },
  problemsOf: () => null,
});

type JsonVersions = 'all' | number[];

export const RequestErasureQuery = query({
  wait: f.logWait.described('Seconds to wait for versions that are not in the published log yet.'),
});
export type RequestErasureQuery = SentOf<typeof RequestErasureQuery>;

export const ErasuresQuery = query({
  ...f.PAGE,
  status: f
    .oneOf(ERASURE_STATUSES)
    .optional()
    .example('pending')
    .described('Only erasures with this status. Absent: all.'),
});
export type ErasuresQuery = SentOf<typeof ErasuresQuery>;

/** Body of `POST …/erasure`. */
export const RequestErasureBody = body(
  'RequestErasureBody',
  {
    versions: versions
      .described(
        'The versions to erase. `all` means the versions that exist at the request; later versions are not erased.',
      )
      .example([1]),
    reason: f
      .someProse(500)
      .described('The reason, for the human who confirms. The service deletes it when the erasure ends.')
      .example('Asked for by the person concerned.'),
    reference: reference.optional().example('DPO-2026-017'),
  },
  { first: { value: { versions: [1], reason: 'Asked for by the person concerned.', reference: 'DPO-2026-017' } } },
);
export type RequestErasureBody = SentOf<typeof RequestErasureBody>;

const { snapshot_id: snapshotId, envelope_hash: envelopeHash, prev_hash: prevHash } = SNAPSHOT_HEADER_EXAMPLE;

export const PENDING_ERASURE: RecordOf<typeof ErasureWithReceipt> = {
  erasureId: EXAMPLE_IDS.erasure_id,
  tenantId: 'acme',
  subjectType: 'organization',
  subjectId: 'acme-corp',
  versions: [1],
  status: 'pending',
  confirmation: 'required',
  reason: 'Asked for by the person concerned.',
  reference: 'DPO-2026-017',
  requestedBy: 'oidc:dev#alice',
  requestedAt: new Date('2026-01-20T08:00:00Z'),
  confirmBy: new Date('2099-01-21T08:00:00Z'),
  confirmedBy: null,
  confirmedAt: null,
  cancelledBy: null,
  cancelledAt: null,
  erasedAt: null,
  logIndex: null,
  erasedVersions: [],
  recipients: [],
};

export const DONE_ERASURE: RecordOf<typeof ErasureWithReceipt> = {
  ...PENDING_ERASURE,
  status: 'erased',
  reason: null,
  confirmedBy: 'oidc:dev#carol',
  confirmedAt: new Date('2026-01-20T09:00:00Z'),
  erasedAt: new Date('2026-01-20T09:00:00Z'),
  erasedVersions: [{ snapshotVersion: 1, snapshotId, envelopeHash, prevHash, logIndex: 0 }],
  recipients: [
    { tenantId: 'beta', firstAt: new Date('2026-01-16T08:15:00Z'), lastAt: new Date('2026-01-19T08:15:00Z') },
  ],
};

const CANCELLED: RecordOf<typeof ErasureWithReceipt> = {
  ...PENDING_ERASURE,
  status: 'cancelled',
  reason: null,
  cancelledBy: 'oidc:dev#alice',
  cancelledAt: new Date('2026-01-20T08:30:00Z'),
};

/** Documents a response with one erasure. */
const erasureAnswer = (description: string, record: RecordOf<typeof ErasureWithReceipt>): ResponseFacts =>
  answer(description, ErasureWithReceipt, ErasureWithReceipt.of(record));

export const ERASURES = operations('Erasure', '/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}', {
  requestErasure: {
    route: 'POST /erasure',
    summary: 'Request the erasure of versions of a subject',
    who: RULES.requestErasure,
    body: RequestErasureBody,
    query: RequestErasureQuery,
    description:
      'Needs a human owner (422 otherwise). A second human must confirm within a day before anything is erased. ' +
      'If the tenant’s `erasure_confirmation` is `off`, the erasure takes effect immediately. A subject has at ' +
      'most one pending erasure (409). Versions that are not in the transparency log yet return 404 ' +
      '`not_logged_yet`; send `wait` to wait for them. [/docs/erasure](/docs/erasure) lists what is destroyed ' +
      'and what stays.',
    answers: { 201: erasureAnswer('The pending erasure.', PENDING_ERASURE) },
    errors: ['not_found', 'not_logged_yet', 'conflict', 'human_principal_required'],
  },
  listErasures: {
    route: 'GET /erasures',
    summary: 'List the erasures of a subject, newest first',
    who: RULES.readErasures,
    ...paged('One page.', Erasure, [Erasure.of(PENDING_ERASURE)]),
  },
  getErasure: {
    route: 'GET /erasures/{erasure_id}',
    summary: 'Read an erasure; once it is done, the response is its receipt',
    who: RULES.readErasures,
    answers: { 200: erasureAnswer('The erasure.', PENDING_ERASURE) },
    errors: ['not_found'],
  },
  confirmErasure: {
    route: 'POST /erasures/{erasure_id}/confirm',
    summary: 'Confirm and carry out an erasure',
    who: RULES.confirmErasure,
    description:
      'Needs a human other than the one who requested the erasure (403, or 422 if not human). The content is ' +
      'destroyed when the response is sent; this cannot be undone. 409 unless the erasure is pending.',
    answers: { 200: erasureAnswer('The receipt.', DONE_ERASURE) },
    errors: ['not_found', 'not_logged_yet', 'conflict', 'human_principal_required'],
  },
  cancelErasure: {
    route: 'POST /erasures/{erasure_id}/cancel',
    summary: 'Cancel an erasure that was not confirmed',
    who: RULES.confirmErasure,
    description:
      'An `expired` erasure can be cancelled too, which deletes its reason. 409 if the erasure ended in another way.',
    answers: { 200: erasureAnswer('The cancelled erasure.', CANCELLED) },
    errors: ['not_found', 'conflict'],
  },
});

export const TENANT_ERASURES = operations('Erasure', '/v1/tenants/{tenant_id}/erasures', {
  listTenantErasures: {
    route: 'GET ',
    summary: 'List the erasures of all subjects of a tenant, newest first',
    who: RULES.listErasures,
    ...paged('One page.', Erasure, [Erasure.of(PENDING_ERASURE)]),
    query: ErasuresQuery,
    description: '`status=pending` lists the erasures that wait for a confirmation.',
  },
});
