import {
  CONTROLS,
  REFRESH_REQUEST_ORIGINS,
  REFRESH_REQUEST_STATUSES,
  REFRESH_SERIES_ENDS,
  RULES,
  SUBJECT_TYPES,
} from '@iss/domain';
import * as f from '../describe/fields';
import { alias, listOf, refused, shown } from '../describe/field';
import { part, type RecordOf, view, type ViewOf } from '../describe/view';
import { body, query, type SentOf } from '../describe/shape';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { type ResponseFacts, answer, operations } from '../describe/operation';
import { pageAnswer } from '../describe/page';
import { SPECIFIED_LISTS } from '../describe/page-limits';

const reasonCode = f.line(128).nullable().described('The reason, as a code that the requesting tenant chooses.');
const message = f.prose(2000).nullable().described('A message to the owner.');
const status = f.oneOf(REFRESH_REQUEST_STATUSES);
const paths = listOf(f.text).described('The requested parts: JSON Pointers (RFC 6901).');

/** The data of events, with both names of each field. */
export const RefreshRequestData = view(
  'RefreshRequestData',
  {
    refresh_request_id: f.uuid.described('The id of the refresh request.'),
    request_id: alias('refresh_request_id'),
    subject: f.SubjectRef.fromRecord(),
    subject_type: alias('subject.subject_type'),
    subject_id: alias('subject.subject_id'),
    requesting_tenant_id: f.tenantId.described('The requesting tenant.'),
    origin_type: f
      .oneOf(REFRESH_REQUEST_ORIGINS)
      .described('Set by the server: `owner` if the requesting tenant owns the subject, otherwise `counterparty`.'),
    status: status.described('The state of the request.'),
    reason_code: reasonCode,
    requested_paths: paths,
    created_at: f.time.described('When the request was made.'),
    expires_at: f.time.nullable().described('When the request expires if it is still `pending`; null: never.'),
    resolved_at: f.time.nullable().described('When the request was fulfilled; null unless it is `fulfilled`.'),
    fulfilled_at: alias('resolved_at'),
    resolved_snapshot_id: f.uuid
      .nullable()
      .described('The snapshot that fulfilled the request; null unless it is `fulfilled`.'),
    fulfilled_snapshot_id: alias('resolved_snapshot_id'),
    resolved_snapshot_version: shown<number>({ type: 'integer' }).nullable().described('The version of that snapshot.'),
    due_at: f.time.nullable().described('When the response is due; null: no time is set.'),
    overdue_at: f.time
      .nullable()
      .described('The `due_at`, if it passed while the request was `pending`; otherwise null.'),
    closed_at: f.time
      .nullable()
      .described('When the request was declined or cancelled, or expired; null while it is `pending` or `fulfilled`.'),
    every: f.recurrence
      .nullable()
      .described('The interval at which the request recurs: an ISO 8601 duration; null: it does not recur.'),
    series_id: f.uuid.nullable().described('The first request of the series; null: the request does not recur.'),
    previous_request_id: f.uuid.nullable().described('The previous request of the series; null: this is the first.'),
    next_request_id: f.uuid.nullable().described('The next request of the series; null: none is open yet.'),
    next_at: f.time
      .nullable()
      .described('When the next request of the series opens; null if this one is `pending`, or if none follows.'),
    series_end_reason: f
      .oneOf(REFRESH_SERIES_ENDS)
      .nullable()
      .described(
        'The reason why no request follows: the requesting tenant cancelled the series, or neither owns the ' +
          'subject nor holds a live grant on it any more. Null: the series has not ended here.',
      ),
  },
  'The refresh request, without its message.',
);

const Suggested = part({
  snapshot_id: f.uuid.described('The latest snapshot of the subject.'),
  snapshot_version: f.version.described('Its version.'),
});

/** The data of events plus two things that events lack: people's texts, and fields that only the owner sees. */
export const RefreshRequest = view('RefreshRequest', {
  ...RefreshRequestData.fields,
  name: f.subjectName,
  message,
  decline_reason: f.prose(500).nullable().described('The reason why the owner declined; null unless it did.'),
  suggested_fulfilment: Suggested.nullable()
    .madeOf(({ snapshot }: { snapshot: RecordOf<typeof Suggested> | null }) =>
      snapshot === null ? null : Suggested.of(snapshot),
    )
    .optional()
    .described(
      'The snapshot to fulfil a `pending` request with: the latest, if each of `requested_paths` changed after ' +
        'the request and every such value has `current` evidence. Null: there is none. Absent if the caller ' +
        'does not belong to the owner, or if the service did not compute it. See [/docs/provenance](/docs/provenance).',
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
    requesting_tenant_id: f.tenantId.example('beta').described("The caller's tenant."),
    reason_code: reasonCode.optional().example('stale_data'),
    message: message.optional().example('Please confirm the name.'),
    requested_paths: f
      .arrayWith({ type: 'string', pattern: `^(?:/(?:[^~/${CONTROLS}]|~[01])*)+$`, maxLength: 1024 })
      .nullable()
      .optional()
      .example(['/attributes/legal/legal_name'])
      .described('JSON Pointers (RFC 6901), at most 100 by default. Duplicates are removed.'),
    expires_at: f.time
      .nullable()
      .optional()
      .example('2099-01-01T00:00:00Z')
      .described(
        'When the request expires if it is still `pending`; must be in the future. Both sides then get ' +
          '`refresh_request.expired`.',
      ),
    due_at: f.time
      .nullable()
      .optional()
      .example('2099-01-01T00:00:00Z')
      .described(
        'When the response is due; must be in the future. After it, the request is overdue, and both sides get ' +
          '`refresh_request.overdue`.',
      ),
    every: f.recurrence
      .nullable()
      .optional()
      .example('P1Y')
      .described(
        'The interval at which the request recurs: an ISO 8601 duration of whole days from `P1D` to `P5Y`, such ' +
          'as `P1Y`, `P3M` or `P1Y6M`. Once the request is fulfilled, declined or expired, the next one opens at ' +
          'the next multiple of the interval, counted in UTC from the first request. It has the same content and ' +
          'the same time for the response. The series ends when the requesting tenant cancels it, or neither owns ' +
          'the subject nor holds a live grant on it.',
      ),
    origin_type: refused('is set by the server: leave it out'),
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

/** Body of `POST …/{refresh_request_id}/fulfill`. The snapshot may have either name. */
export const FulfilRefreshRequestBody = body(
  'FulfilRefreshRequestBody',
  {
    resolved_snapshot_id: f.uuid
      .described('A snapshot of the subject in the path. The latest one confirms the current state.')
      .example(EXAMPLE_IDS.snapshot_id),
    snapshot_id: alias('resolved_snapshot_id'),
  },
  { confirm: { value: { resolved_snapshot_id: EXAMPLE_IDS.snapshot_id } } },
);
export type FulfilRefreshRequestBody = SentOf<typeof FulfilRefreshRequestBody>;

/** Body of `POST …/{refresh_request_id}/decline`. */
export const DeclineRefreshRequestBody = body(
  'DeclineRefreshRequestBody',
  {
    reason: f.prose(500).example('Confirmed last week.').described('A message to the requesting tenant. May be empty.'),
  },
  { declined: { value: { reason: 'Confirmed last week.' } } },
);
export type DeclineRefreshRequestBody = SentOf<typeof DeclineRefreshRequestBody>;

/** Query of the list of a tenant's refresh requests. */
export const TenantRefreshRequestsQuery = query({
  ...f.PAGE,
  direction: f
    .oneOf(['incoming', 'outgoing'])
    .byDefault('incoming')
    .optional()
    .described('`incoming`: about subjects that the tenant owns. `outgoing`: made by the tenant.'),
  status: status.optional().example('pending').described('Absent: all states.'),
  subject_type: f
    .oneOf(SUBJECT_TYPES)
    .optional()
    .example('organization')
    .described('Only requests about subjects of this type. Absent: all types.'),
  subject_id: f.subjectId
    .optional()
    .example('acme-corp')
    .described('Only requests about this subject; send `subject_type` too.'),
  overdue: f
    .oneOf(['true'])
    .optional()
    .example('true')
    .described(
      'Only pending requests whose `due_at` has passed. They are ordered by `due_at`, latest first, unless the ' +
        'request names a subject.',
    ),
});
export type TenantRefreshRequestsQuery = SentOf<typeof TenantRefreshRequestsQuery>;

/** Query of the list of a subject's refresh requests. */
export const ListRefreshRequestsQuery = query({
  ...f.PAGE,
  requesting_tenant_id: f.tenantId
    .optional()
    .example('beta')
    .described('Only requests of this tenant. Callers outside the owner must send their own tenant.'),
});
export type ListRefreshRequestsQuery = SentOf<typeof ListRefreshRequestsQuery>;

export const PENDING_REQUEST: RecordOf<typeof RefreshRequest> = {
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

/** The example of a request as its owner sees it. */
const REQUEST_OF_OWNER: RecordOf<typeof RefreshRequest> = {
  ...PENDING_REQUEST,
  suggestedFulfilment: { snapshot: null },
};

export const FULFILLED_REQUEST: RecordOf<typeof RefreshRequest> = {
  ...REQUEST_OF_OWNER,
  status: 'fulfilled',
  resolvedAt: new Date('2026-01-16T08:00:00Z'),
  resolvedSnapshotId: EXAMPLE_IDS.snapshot_id,
  resolvedSnapshotVersion: 1,
};

export const DECLINED_REQUEST: RecordOf<typeof RefreshRequest> = {
  ...REQUEST_OF_OWNER,
  status: 'declined',
  closedAt: new Date('2026-01-16T08:00:00Z'),
  declineReason: 'Confirmed last week.',
};

export const OVERDUE_REQUEST: RecordOf<typeof RefreshRequest> = {
  ...PENDING_REQUEST,
  dueAt: new Date('2026-01-20T10:00:00Z'),
  overdueAt: new Date('2026-01-20T10:00:00Z'),
};

export const EXPIRED_REQUEST: RecordOf<typeof RefreshRequest> = {
  ...PENDING_REQUEST,
  status: 'expired',
  expiresAt: new Date('2026-02-15T10:00:00Z'),
  closedAt: new Date('2026-02-15T10:00:00Z'),
};

export const CANCELLED_REQUEST: RecordOf<typeof RefreshRequest> = {
  ...PENDING_REQUEST,
  status: 'cancelled',
  closedAt: new Date('2026-01-16T08:00:00Z'),
};

const one = (description: string, record = PENDING_REQUEST): ResponseFacts =>
  answer(description, WrappedRefreshRequest, WrappedRefreshRequest.of(record));

const REQUEST_PAGE = pageAnswer(
  'One page.',
  RefreshRequest,
  [RefreshRequest.of({ ...REQUEST_OF_OWNER, name: 'Acme Corporation AG' })],
  SPECIFIED_LISTS.refreshRequests,
);

export const REFRESH_REQUESTS = operations(
  'Refresh requests',
  '/v1/subjects/{subject_type}/{subject_id}/refresh-requests',
  {
    createRefreshRequest: {
      route: 'POST ',
      summary: 'Ask the owner for a newer snapshot, or to confirm the latest one',
      who: RULES.requestRefresh,
      body: CreateRefreshRequestBody,
      description:
        '`requesting_tenant_id` must be a tenant of the caller. The server sets `origin_type`. If a counterparty ' +
        'asks, the owner’s subscriptions get `refresh_request.created`.',
      answers: { 201: one('The pending request.') },
    },
    listRefreshRequests: {
      route: 'GET ',
      summary: 'List the refresh requests of a subject, newest first',
      who: RULES.requestRefresh,
      query: ListRefreshRequestsQuery,
      page: SPECIFIED_LISTS.refreshRequests,
      description:
        'Members of the owner see every request, or those of one tenant. Other callers must send their own ' +
        '`requesting_tenant_id` and see only that tenant’s requests.',
      answers: {
        200: REQUEST_PAGE,
      },
    },
    getRefreshRequest: {
      route: 'GET /{refresh_request_id}',
      summary: 'Read a refresh request',
      who: RULES.requestRefresh,
      description:
        'Allowed for members of the owner, and for members of the requesting tenant while it holds a live grant.',
      answers: { 200: one('The request.', REQUEST_OF_OWNER) },
      errors: ['not_found'],
    },
    fulfillRefreshRequest: {
      route: 'POST /{refresh_request_id}/fulfill',
      summary: 'Fulfil a refresh request with a snapshot of its subject',
      who: RULES.fulfilRefresh,
      body: FulfilRefreshRequestBody,
      description:
        'To confirm the current state, name the latest snapshot. Otherwise apply an update first and name the new ' +
        'snapshot. A request can be fulfilled once, and only before it expires. The requesting tenant’s ' +
        'subscriptions get `refresh_request.fulfilled`.',
      answers: { 200: one('The fulfilled request.', FULFILLED_REQUEST) },
      errors: ['not_found', 'conflict'],
    },
    declineRefreshRequest: {
      route: 'POST /{refresh_request_id}/decline',
      summary: 'Decline a refresh request',
      who: RULES.fulfilRefresh,
      body: DeclineRefreshRequestBody,
      description:
        'Allowed for members of the owner. The requesting tenant’s subscriptions get `refresh_request.declined`, ' +
        'without the reason.',
      answers: { 200: one('The declined request.', DECLINED_REQUEST) },
      errors: ['not_found', 'conflict'],
    },
    cancelRefreshRequest: {
      route: 'POST /{refresh_request_id}/cancel',
      summary: 'Cancel a refresh request',
      who: RULES.cancelRefresh,
      description:
        'Allowed for members of the requesting tenant, even after its grant has ended. It also ends the series of ' +
        'a recurring request. If the request is no longer pending and the next one is not open yet, it only ends ' +
        'the series. The owner’s subscriptions get `refresh_request.cancelled` only for a request that was ' +
        'pending.',
      answers: { 200: one('The cancelled request.', CANCELLED_REQUEST) },
      replayFor: RULES.requestRefresh,
      errors: ['not_found', 'conflict'],
    },
  },
);

export const TENANT_REFRESH_REQUESTS = operations('Refresh requests', '/v1/tenants/{tenant_id}/refresh-requests', {
  listTenantRefreshRequests: {
    route: 'GET ',
    summary: 'List the refresh requests to or from a tenant, newest first',
    who: RULES.readRefreshRequests,
    query: TenantRefreshRequestsQuery,
    page: SPECIFIED_LISTS.refreshRequests,
    answers: {
      200: REQUEST_PAGE,
    },
  },
});
