import {
  CONTROLS,
  REFRESH_REQUEST_ORIGINS,
  REFRESH_REQUEST_STATUSES,
  REFRESH_SERIES_ENDS,
  SUBJECT_TYPES,
} from '@iss/domain';
import { EXAMPLE_IDS } from '../../http/describe/example-ids';
import { alias, listOf, refused, shown } from '../../http/describe/field';
import { part, view, type ViewOf } from '../../http/describe/view';
import {
  arrayWith,
  line,
  oneOf,
  PAGE,
  prose,
  recurrence,
  subjectId,
  SubjectRef,
  tenantId,
  text,
  time,
  uuid,
  version,
} from '../../http/request/fields';
import { body, query, type SentOf } from '../../http/request/shape';
import { type ShownRequest, type Suggestion, withNoneToSuggest } from './suggestions.service';

const reasonCode = line(128).nullable().described('Why it is asked for, as a code of the asking tenant’s own.');
const message = prose(2000).nullable().described('Words to the owner.');
const status = oneOf(REFRESH_REQUEST_STATUSES);
const paths = listOf(text).described('The parts that are asked for: JSON Pointers (RFC 6901).');

/** What events carry, with both names of each field. */
export const RefreshRequestData = view(
  'RefreshRequestData',
  {
    refresh_request_id: uuid.described('The id of the refresh request.'),
    request_id: alias('refresh_request_id'),
    subject: SubjectRef.fromRecord(),
    subject_type: alias('subject.subject_type'),
    subject_id: alias('subject.subject_id'),
    requesting_tenant_id: tenantId.described('The tenant that asks.'),
    origin_type: oneOf(REFRESH_REQUEST_ORIGINS).described(
      'Set by the server: whether the requesting tenant owns the subject.',
    ),
    status: status.described('Where it stands.'),
    reason_code: reasonCode,
    requested_paths: paths,
    created_at: time.described('When it was made.'),
    expires_at: time.nullable().described('When it expires, if it is still `pending` then; null: it does not expire.'),
    resolved_at: time.nullable().described('When it was fulfilled; null while it is `pending`.'),
    fulfilled_at: alias('resolved_at'),
    resolved_snapshot_id: uuid.nullable().described('The snapshot that answers it; null while it is `pending`.'),
    fulfilled_snapshot_id: alias('resolved_snapshot_id'),
    resolved_snapshot_version: shown<number>({ type: 'integer' }).nullable().described('The version of that snapshot.'),
    due_at: time.nullable().described('When the answer is due; null: no time is set.'),
    overdue_at: time
      .nullable()
      .described('Its `due_at`, if that passed while it was `pending`; null: it was not late, or is not late yet.'),
    closed_at: time
      .nullable()
      .described('When it was declined or cancelled, or expired; null: it is `pending` or `fulfilled`.'),
    every: recurrence.nullable().described('How often it recurs, as an ISO 8601 duration; null: it does not.'),
    series_id: uuid.nullable().described('The first request of its series; null: it does not recur.'),
    previous_request_id: uuid.nullable().described('The request before it in its series; null: it is the first.'),
    next_request_id: uuid.nullable().described('The request after it in its series; null: none is opened yet.'),
    next_at: time
      .nullable()
      .described('When the next request of the series is opened; null: this one is `pending`, or no other follows.'),
    series_end_reason: oneOf(REFRESH_SERIES_ENDS)
      .nullable()
      .described(
        'Why no other request follows: the requesting tenant cancelled it, or neither owns the subject nor holds a live grant on it any more. Null: the series has not ended here.',
      ),
  },
  'The refresh request, without its message.',
);

const Suggested = part({
  snapshot_id: uuid.described('The latest snapshot of the subject.'),
  snapshot_version: version.described('Its version.'),
});

/** The same with what people wrote, and with what its owner alone sees, which events don't carry. */
export const RefreshRequest = view('RefreshRequest', {
  ...RefreshRequestData.fields,
  message,
  decline_reason: prose(500).nullable().described('Why the owner declined it; null: it did not.'),
  suggested_fulfilment: Suggested.nullable()
    .madeOf(({ snapshot }: Suggestion) => (snapshot === null ? null : Suggested.of(snapshot)))
    .optional()
    .described(
      'The snapshot to fulfil it with, while it is `pending`: the latest, where each of `requested_paths` was changed after the request was made, and every value that was has `current` evidence. Null: there is none. Absent for others than the owner, and where it is not known (docs/provenance.md).',
    ),
});

export const WrappedRefreshRequest = part({
  refresh_request: RefreshRequest.fromRecord().described('The refresh request.'),
});
export type WrappedRefreshRequest = ViewOf<typeof WrappedRefreshRequest>;

/** Body of `POST …/refresh-requests` (specification, "Refresh requests"). */
export const CreateRefreshRequestBody = body(
  'CreateRefreshRequestBody',
  {
    requesting_tenant_id: tenantId.example('beta').described("The caller's tenant."),
    reason_code: reasonCode.optional().example('stale_data'),
    message: message.optional().example('Please confirm the name.'),
    requested_paths: arrayWith({ type: 'string', pattern: `^(?:/(?:[^~/${CONTROLS}]|~[01])*)+$`, maxLength: 1024 })
      .nullable()
      .optional()
      .example(['/attributes/legal/legal_name'])
      .described(
        'JSON Pointers (RFC 6901). Repeated ones are kept once. At most 100, unless the deployment says else.',
      ),
    expires_at: time
      .nullable()
      .optional()
      .example('2099-01-01T00:00:00Z')
      .described(
        'When it expires, if it is still `pending` then; in the future. Both sides get `refresh_request.expired`.',
      ),
    due_at: time
      .nullable()
      .optional()
      .example('2099-01-01T00:00:00Z')
      .described(
        'When the answer is due; in the future. Once it has passed the request is overdue, and both sides get `refresh_request.overdue`.',
      ),
    every: recurrence
      .nullable()
      .optional()
      .example('P1Y')
      .described(
        'How often the request recurs: an ISO 8601 duration of whole days from `P1D` to `P5Y`, as `P1Y`, `P3M` or `P1Y6M`. When the request is fulfilled or declined or has expired, the next one is opened at the next of these moments, counted in UTC from the first request, with the same content and as much time for the answer. A series ends when the requesting tenant cancels it, or neither owns the subject nor holds a live grant on it.',
      ),
    origin_type: refused('is set by the server; leave it out'),
  },
  {
    counterparty: {
      value: {
        requesting_tenant_id: 'beta',
        reason_code: 'stale_data',
        message: 'Please confirm the name.',
        requested_paths: ['/attributes/legal/legal_name'],
      },
    },
    every_year: {
      value: {
        requesting_tenant_id: 'beta',
        reason_code: 'annual_review',
        requested_paths: ['/attributes/legal'],
        every: 'P1Y',
      },
    },
  },
);
export type CreateRefreshRequestBody = SentOf<typeof CreateRefreshRequestBody>;

/** Body of `POST …/{refresh_request_id}/fulfill`: the snapshot under either of its names. */
export const FulfilRefreshRequestBody = body(
  'FulfilRefreshRequestBody',
  {
    resolved_snapshot_id: uuid
      .described("A snapshot of the path's subject; the latest one confirms it.")
      .example(EXAMPLE_IDS.snapshot_id),
    snapshot_id: alias('resolved_snapshot_id'),
  },
  { confirm: { value: { resolved_snapshot_id: EXAMPLE_IDS.snapshot_id } } },
);
export type FulfilRefreshRequestBody = SentOf<typeof FulfilRefreshRequestBody>;

/** Body of `POST …/{refresh_request_id}/decline`. */
export const DeclineRefreshRequestBody = body(
  'DeclineRefreshRequestBody',
  { reason: prose(500).example('Confirmed last week.').described('Words to whoever asked. May be empty.') },
  { declined: { value: { reason: 'Confirmed last week.' } } },
);
export type DeclineRefreshRequestBody = SentOf<typeof DeclineRefreshRequestBody>;

/** Query of the list of a tenant. */
export const TenantRefreshRequestsQuery = query({
  ...PAGE,
  direction: oneOf(['incoming', 'outgoing'])
    .byDefault('incoming')
    .optional()
    .described('`incoming`: of subjects that the tenant owns; `outgoing`: made by the tenant.'),
  status: status.optional().example('pending').described('Absent: in every state.'),
  subject_type: oneOf(SUBJECT_TYPES).optional().example('organization').described('Absent: of every type of subjects.'),
  subject_id: subjectId
    .optional()
    .example('acme-corp')
    .described('Only those on this subject, with `subject_type`; byte for byte.'),
  overdue: oneOf(['true'])
    .optional()
    .example('true')
    .described(
      'Only pending ones whose `due_at` has passed. They come by `due_at`, the latest first, unless a subject is named.',
    ),
});
export type TenantRefreshRequestsQuery = SentOf<typeof TenantRefreshRequestsQuery>;

/** Query of the list. */
export const ListRefreshRequestsQuery = query({
  ...PAGE,
  requesting_tenant_id: tenantId
    .optional()
    .example('beta')
    .described("Requests of this tenant only. Required, and the caller's own, unless the caller belongs to the owner."),
});
export type ListRefreshRequestsQuery = SentOf<typeof ListRefreshRequestsQuery>;

export const PENDING: ShownRequest = {
  refreshRequestId: EXAMPLE_IDS.refresh_request_id,
  subjectType: 'organization',
  subjectId: 'acme-corp',
  requestingTenantId: 'beta',
  originType: 'counterparty',
  status: 'pending',
  reasonCode: 'stale_data',
  message: 'Please confirm the name.',
  requestedPaths: ['/attributes/legal/legal_name'],
  createdAt: new Date('2026-01-15T10:00:00Z'),
  expiresAt: null,
  resolvedAt: null,
  resolvedSnapshotId: null,
  resolvedSnapshotVersion: null,
  dueAt: null,
  overdueAt: null,
  closedAt: null,
  declineReason: null,
  every: null,
  seriesId: null,
  previousRequestId: null,
  nextRequestId: null,
  nextAt: null,
  seriesEndReason: null,
  suggestedFulfilment: null,
};
/** As its owner sees it. */
export const ASKED: ShownRequest = withNoneToSuggest(PENDING);
export const FULFILLED: ShownRequest = {
  ...ASKED,
  status: 'fulfilled',
  resolvedAt: new Date('2026-01-16T08:00:00Z'),
  resolvedSnapshotId: EXAMPLE_IDS.snapshot_id,
  resolvedSnapshotVersion: 1,
};
export const DECLINED: ShownRequest = {
  ...ASKED,
  status: 'declined',
  closedAt: new Date('2026-01-16T08:00:00Z'),
  declineReason: 'Confirmed last week.',
};
export const OVERDUE: ShownRequest = {
  ...PENDING,
  dueAt: new Date('2026-01-20T10:00:00Z'),
  overdueAt: new Date('2026-01-20T10:00:00Z'),
};
export const EXPIRED: ShownRequest = {
  ...PENDING,
  status: 'expired',
  expiresAt: new Date('2026-02-15T10:00:00Z'),
  closedAt: new Date('2026-02-15T10:00:00Z'),
};
export const CANCELLED: ShownRequest = {
  ...PENDING,
  status: 'cancelled',
  closedAt: new Date('2026-01-16T08:00:00Z'),
};
