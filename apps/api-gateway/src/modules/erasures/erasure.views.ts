import { CONFIRMATIONS, ERASURE_STATUSES } from '@iss/domain';
import type { ErasureReceipt } from '@iss/persistence';
import {
  body,
  count,
  EXAMPLE_IDS,
  field,
  hash,
  listOf,
  logWait,
  oneOf,
  PAGE,
  part,
  principalId,
  prose,
  query,
  type SentOf,
  someProse,
  subjectId,
  subjectType,
  tenantId,
  time,
  uuid,
  version,
  view,
  type ViewOf,
} from '@iss/contract';
import { SNAPSHOT_HEADER_EXAMPLE } from '../../http/answer/snapshot-header.view';
import { type Answer, answer } from '../../http/describe/openapi';

const reference = prose(200)
  .nullable()
  .described('A reference to the request, such as a file number. Never put a name here.');
const logIndex = count.nullable().described('The index of the erasure’s entry in the log; null until the log has it.');

const FIELDS = {
  erasure_id: uuid.described('The id of the erasure.'),
  tenant_id: tenantId,
  subject_type: subjectType,
  subject_id: subjectId,
  versions: listOf(version).described('The versions to erase, ascending, as they existed at the request.'),
  status: oneOf(ERASURE_STATUSES).described('The state of the erasure.'),
  confirmation: oneOf(CONFIRMATIONS).described(
    '`required` if a second human had to confirm the erasure: the tenant’s setting at the request.',
  ),
  reason: prose(500)
    .nullable()
    .described(
      'The reason, for the human who confirms. Null once the erasure is no longer pending, because the service ' +
        'deletes it then.',
    ),
  reference,
  requested_by: principalId.described('The principal that requested the erasure.'),
  requested_at: time.described('When the erasure was requested.'),
  confirm_by: time.described('The deadline for the confirmation. After it, the erasure is `expired`.'),
  confirmed_by: principalId
    .nullable()
    .described('The principal that confirmed the erasure; null if nobody did or had to.'),
  confirmed_at: time.nullable().described('When the erasure was confirmed.'),
  cancelled_by: principalId.nullable().described('The principal that cancelled the erasure; null if nobody did.'),
  cancelled_at: time.nullable().described('When the erasure was cancelled.'),
  erased_at: time.nullable().described('When the content was destroyed; null if it was not.'),
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
      snapshot_version: version,
      snapshot_id: uuid.described('The id of the version.'),
      envelope_hash: hash.nullable().described('The envelope hash of the erased content.'),
      prev_hash: hash.nullable().described('The envelope hash of the previous version; null for version 1.'),
      log_index: count.described('The index of the version’s entry in the log. The entry of the erasure names it.'),
    }),
  ).described('The remains of each erased version. Empty until the erasure is done.'),
  recipients: listOf(
    part({
      tenant_id: tenantId.described('The tenant that was shown one of the versions.'),
      first_at: time.described('The first read of the first such day.'),
      last_at: time.described('The first read of the last such day.'),
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
  wait: logWait.described('Seconds to wait for versions that are not in the published log yet.'),
});
export type RequestErasureQuery = SentOf<typeof RequestErasureQuery>;

export const ErasuresQuery = query({
  ...PAGE,
  status: oneOf(ERASURE_STATUSES)
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
    reason: someProse(500)
      .described('The reason, for the human who confirms. The service deletes it when the erasure ends.')
      .example('Asked for by the person concerned.'),
    reference: reference.optional().example('DPO-2026-017'),
  },
  { first: { value: { versions: [1], reason: 'Asked for by the person concerned.', reference: 'DPO-2026-017' } } },
);
export type RequestErasureBody = SentOf<typeof RequestErasureBody>;

const { snapshot_id: snapshotId, envelope_hash: envelopeHash, prev_hash: prevHash } = SNAPSHOT_HEADER_EXAMPLE;

export const PENDING: ErasureReceipt = {
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

export const DONE: ErasureReceipt = {
  ...PENDING,
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

export const CANCELLED: ErasureReceipt = {
  ...PENDING,
  status: 'cancelled',
  reason: null,
  cancelledBy: 'oidc:dev#alice',
  cancelledAt: new Date('2026-01-20T08:30:00Z'),
};

/** Documents a response with one erasure. */
export const erasureAnswer = (description: string, record: ErasureReceipt): Answer =>
  answer(description, ErasureWithReceipt, ErasureWithReceipt.of(record));
