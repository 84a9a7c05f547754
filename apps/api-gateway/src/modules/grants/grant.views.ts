import {
  ALL_SUBJECTS,
  DomainError,
  type ErrorDetail,
  GRANT_STATUSES,
  type JsonObject,
  PENDING_GRANT_STATUSES,
  SUBJECT_TYPES,
} from '@iss/domain';
import {
  type AccessibleFilter,
  type ContentSearch,
  GRANT_DIRECTIONS,
  type GrantFilter,
  type GrantRecord,
  type PendingGrantRecord,
} from '@iss/persistence';
import {
  arrayWith,
  body,
  constant,
  count,
  EXAMPLE_IDS,
  grantedId,
  grantedType,
  integer,
  listOf,
  listOfShaped,
  oneOf,
  PAGE,
  prefix,
  principalId,
  prose,
  query,
  scopes,
  type SentOf,
  subjectId,
  subjectName,
  subjectType,
  tenantId,
  time,
  uuid,
  view,
  type ViewOf,
} from '@iss/contract';
import type { GrantResultRecord } from './grant.service';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from '../../http/answer/snapshot-header.view';
import { ErrorEnvelope } from '../../http/describe/openapi';
import { errorBody } from '../../http/errors/error-body';
import { ERROR_STATUSES } from '../../http/errors/error-statuses';
import { CONTENT, contentSearch } from '../../http/request/content-search';
import { invalidQuery, subjectSent } from '../../http/request/subject-filter';

const grantedBy = principalId
  .nullable()
  .described('The principal that created the grant; null for grants from before this was recorded.');
const purpose = prose(500)
  .nullable()
  .described('The purpose, in the grantor’s words. It appears in no event and no log.');

const status = oneOf(GRANT_STATUSES).described('`active`, or the reason why the grant is no longer live.');

/** Specification, "Grant". */
export const Grant = view('Grant', {
  grant_id: uuid.described('The id of the grant.'),
  grantor_tenant_id: tenantId.described('The tenant that issued the grant.'),
  grantee_tenant_id: tenantId.described('The tenant that received the grant.'),
  subject_type: grantedType,
  subject_id: grantedId,
  name: subjectName,
  scopes,
  expires_at: time.nullable().described('When the grant expires; null: never.'),
  created_at: time.described('When the grant was created.'),
  revoked_at: time.nullable().described('When the grant was revoked; null if it was not.'),
  status,
  granted_by: grantedBy,
  purpose,
  accepted_at: time
    .nullable()
    .described(
      'When the grantee first used or accepted the grant; null if it has not. A grant on all subjects appears ' +
        'in the grantee’s lists and feed only after that.',
    ),
});
export type Grant = ViewOf<typeof Grant>;

/** The created grant in both forms of the specification: flat, and wrapped (secondary). */
export const CreatedGrant = view('CreatedGrant', {
  ...Grant.fields,
  grant: Grant.fromRecord().deprecated().described('The same fields, wrapped.'),
});
export type CreatedGrant = ViewOf<typeof CreatedGrant>;

/** A requested grant on all subjects that a second human must confirm. */
export const PendingGrant = view('PendingGrant', {
  grant_id: uuid.described('The id of the grant, once it is created.'),
  grantor_tenant_id: tenantId.described('The tenant that issues the grant.'),
  grantee_tenant_id: tenantId.described('The tenant that receives the grant.'),
  subject_type: constant(ALL_SUBJECTS.subjectType).described('Always `*`: all subjects of the grantor.'),
  subject_id: constant(ALL_SUBJECTS.subjectId).described('Always `*`.'),
  scopes,
  expires_at: time.nullable().described('When the grant expires; null: never.'),
  purpose,
  status: oneOf(PENDING_GRANT_STATUSES).described(
    '`pending`: the request gives no rights. `confirmed`: the grant was created.',
  ),
  requested_by: principalId.described('The principal that requested the grant.'),
  created_at: time.described('When the grant was requested.'),
  confirm_by: time.described('The deadline for the confirmation. After it, the request is `expired`.'),
  confirmed_by: principalId.nullable().described('The principal that confirmed the request; null if nobody did.'),
  confirmed_at: time.nullable().described('When the request was confirmed.'),
  cancelled_by: principalId.nullable().described('The principal that cancelled the request; null if nobody did.'),
  cancelled_at: time.nullable().described('When the request was cancelled.'),
});
export type PendingGrant = ViewOf<typeof PendingGrant>;

export function isPending(grant: GrantRecord | PendingGrantRecord): grant is PendingGrantRecord {
  return 'confirmBy' in grant;
}

/**
 * An item of the list of accessible subjects (specification, "Grants"). Has `latest_snapshot` only with the scope
 * `read_latest`.
 */
export const AccessibleSubject = view('AccessibleSubject', {
  subject_type: subjectType,
  subject_id: subjectId,
  name: subjectName.described('The name in the latest version. Present only in a search by `identifier` or `q`.'),
  granted_by_tenant_id: tenantId.from('grantorTenantId').described('The tenant that gave the grant.'),
  grant_id: uuid.described(
    'The id of the grant. If there is a grant on this subject and one on all subjects, the id of the former.',
  ),
  scopes: scopes.described('The reads that the grants permit.'),
  expires_at: time.nullable().described('When that grant expires; null: never.'),
  granted_by: grantedBy,
  purpose,
  latest_snapshot: SnapshotHeader.optional()
    .from('latest')
    .described('The header of the latest snapshot. Present only with `read_latest`.'),
});
export type AccessibleSubject = ViewOf<typeof AccessibleSubject>;

export const GrantsQuery = query({
  ...PAGE,
  direction: oneOf(GRANT_DIRECTIONS)
    .optional()
    .described(
      '`issued`: grants that the tenant issued (the default). `received`: grants that it received. `offered`: ' +
        'grants on all subjects of other tenants that it has neither used nor accepted.',
    )
    .example('issued'),
  status: status.optional().example('active').described('Only grants that have this status now.'),
  grantee_tenant_id: tenantId.optional().example('beta').described('Only grants to this tenant.'),
  grantor_tenant_id: tenantId.optional().example('acme').described('Only grants that this tenant issued.'),
  subject_type: grantedType
    .optional()
    .example('organization')
    .described(
      'Only grants on this subject; send `subject_id` too. `*` alone: only grants on all subjects of their grantor.',
    ),
  subject_id: grantedId.optional().example('acme-corp').described('The subject’s id, compared byte for byte.'),
});
export type GrantsQuery = SentOf<typeof GrantsQuery>;

/** Returns the filters of a query. Throws `validation_error` for an incomplete subject. */
export function grantFilter(sent: GrantsQuery): GrantFilter {
  return {
    status: sent.status ?? null,
    granteeTenantId: sent.grantee_tenant_id ?? null,
    grantorTenantId: sent.grantor_tenant_id ?? null,
    subject: subjectSent(sent),
  };
}

export const AccessibleListQuery = query({
  ...PAGE,
  subject_type: oneOf(SUBJECT_TYPES)
    .optional()
    .example('organization')
    .described('Only subjects of this type. Absent: all types.'),
  subject_id: subjectId.optional().example('acme-corp').described('Only this subject; send `subject_type` too.'),
  subject_id_prefix: prefix(512)
    .optional()
    .example('acme-')
    .described('The beginning of the id, compared byte for byte.'),
  granted_by_tenant_id: tenantId.optional().example('acme').described('Only subjects that this tenant granted.'),
  ...CONTENT,
});
export type AccessibleListQuery = SentOf<typeof AccessibleListQuery>;

/**
 * Returns the search or the filters of a query, or null. Throws `validation_error` for both, and for an id without its
 * type.
 */
export function accessibleSearch(sent: AccessibleListQuery): ContentSearch | AccessibleFilter | null {
  const { subject_type, subject_id, subject_id_prefix, granted_by_tenant_id } = sent;
  const filters = { subject_type, subject_id, subject_id_prefix, granted_by_tenant_id };
  const search = contentSearch(sent, filters);
  if (search !== null || Object.values(filters).every((filter) => filter === undefined)) return search;
  subjectSent(sent, { isTypeEnough: true });
  if (subject_id !== undefined && subject_id_prefix !== undefined)
    throw invalidQuery('subject_id_prefix', 'must be sent without subject_id', 'mismatch');
  return {
    subjectType: subject_type ?? null,
    subjectId: subject_id ?? null,
    prefix: subject_id_prefix ?? '',
    grantorTenantId: granted_by_tenant_id ?? null,
  };
}

/** Returns the problems of the subject. A grant on all subjects has no id: it is omitted, or `*` like its type. */
function subjectProblems({ subject_type: type, subject_id: id = null }: JsonObject): ErrorDetail[] {
  if (type !== ALL_SUBJECTS.subjectType) {
    return id === null ? [{ path: '/subject_id', message: 'subject_id is required', code: 'required' }] : [];
  }
  const message = 'subject_id must be left out, or be *, if subject_type is *';
  return id === null || id === ALL_SUBJECTS.subjectId ? [] : [{ path: '/subject_id', message, code: 'invalid_value' }];
}

/** Body of `POST …/grants` (specification, "Grants"). */
export const CreateGrantBody = body(
  'CreateGrantBody',
  {
    grantee_tenant_id: tenantId.described('An existing tenant.').example('beta'),
    subject_type: grantedType.example('organization'),
    subject_id: subjectId
      .optional()
      .described('The subject’s id, compared byte for byte. Leave it out with the type `*`.')
      .example('acme-corp'),
    scopes: scopes.example(['read_latest']),
    expires_at: time
      .nullable()
      .optional()
      .described('When the grant expires; must be in the future. Null or absent: never.')
      .example('2099-01-01T00:00:00Z'),
    purpose: purpose.optional().example('Onboarding of 2026'),
  },
  {
    latest: {
      value: {
        grantee_tenant_id: 'beta',
        subject_type: 'organization',
        subject_id: 'acme-corp',
        scopes: ['read_latest'],
      },
    },
    all_subjects: {
      summary: 'On all subjects that the tenant owns, now or later',
      value: { grantee_tenant_id: 'beta', subject_type: '*', scopes: ['read_latest'], purpose: 'Onboarding of 2026' },
    },
  },
  {
    problemsOf: subjectProblems,
    schema: {
      anyOf: [
        {
          properties: {
            subject_type: { type: 'string', enum: SUBJECT_TYPES, description: 'The type of the subject.' },
            subject_id: { type: 'string', description: 'The id of the subject.' },
          },
          required: ['subject_type', 'subject_id'],
        },
        {
          properties: {
            subject_type: { type: 'string', const: ALL_SUBJECTS.subjectType, description: 'All subjects.' },
            subject_id: {
              type: ['string', 'null'],
              enum: [ALL_SUBJECTS.subjectId, null],
              description: 'All subjects.',
            },
          },
          required: ['subject_type'],
        },
      ],
    },
  },
);
export type CreateGrantBody = SentOf<typeof CreateGrantBody>;

/** Body of `POST …/grants/batch`. Its items are checked one by one. */
export const CreateGrantsBody = body(
  'CreateGrantsBody',
  {
    grants: listOfShaped(arrayWith(CreateGrantBody.schema), CreateGrantBody.names).described(
      'The grants to create, each like the body of a single request. At most 1,000 by default ' +
        '([/docs/limits](/docs/limits)).',
    ),
  },
  {
    two: {
      value: {
        grants: [
          {
            grantee_tenant_id: 'beta',
            subject_type: 'organization',
            subject_id: 'acme-corp',
            scopes: ['read_latest'],
          },
          { grantee_tenant_id: 'nobody', subject_type: '*', scopes: ['read_diff'] },
        ],
      },
    },
  },
);
export type CreateGrantsBody = SentOf<typeof CreateGrantsBody>;

/** The outcome of one of many grants. */
const GrantResult = view('GrantResult', {
  index: count.described('The index in `grants`, from 0.'),
  status: integer.described(
    'The status that a single request would have returned: 201, 202, or the status of `error`.',
  ),
  grant: Grant.optional().described('The grant, if it was created.'),
  pending_grant: PendingGrant.optional().described('The pending request, if another human must confirm it.'),
  error: ErrorEnvelope.fields.error.optional(),
});
type GrantResult = ViewOf<typeof GrantResult>;

/** The response to a batch. */
export const GrantResults = view('GrantResults', {
  items: listOf(GrantResult).described('One result for each of `grants`, in the same order.'),
});
export type GrantResults = ViewOf<typeof GrantResults>;

/** Only the first problems of each grant are reported, because a batch may have many. */
const MAX_DETAILS = 10;

export function grantResults(results: readonly GrantResultRecord[], requestId: string): GrantResults {
  const items = results.map((result, index): GrantResult => {
    if (result instanceof DomainError) {
      return { index, status: ERROR_STATUSES[result.code], ...errorBody(result, requestId, MAX_DETAILS) };
    }
    if (isPending(result)) return { index, status: 202, pending_grant: PendingGrant.of(result) };
    return { index, status: 201, grant: Grant.of(result) };
  });
  return { items };
}

/** Body of `PATCH …/grants/{grant_id}`. */
export const ChangeGrantBody = body(
  'ChangeGrantBody',
  {
    scopes: scopes.optional().described('The reads that the grant permits from now on.').example(['read_latest']),
    expires_at: time
      .nullable()
      .optional()
      .described('When the grant expires; must be in the future. Null: never.')
      .example('2099-01-01T00:00:00Z'),
    purpose: purpose.optional().example('Onboarding of 2026'),
    reason: prose(500)
      .nullable()
      .optional()
      .described('The reason for the change, stored with it.')
      .example('Wider review'),
  },
  {
    narrower: { value: { scopes: ['read_latest'] } },
    until: { value: { expires_at: '2099-01-01T00:00:00Z', reason: 'Prolonged' } },
  },
);
export type ChangeGrantBody = SentOf<typeof ChangeGrantBody>;

export const ACME_TO_BETA: GrantRecord = {
  grantId: EXAMPLE_IDS.grant_id,
  grantorTenantId: 'acme',
  granteeTenantId: 'beta',
  subjectType: 'organization',
  subjectId: 'acme-corp',
  scopes: ['read_latest'],
  expiresAt: null,
  createdAt: new Date('2026-01-15T10:00:00Z'),
  revokedAt: null,
  status: 'active',
  grantedBy: 'oidc:dev#alice',
  purpose: null,
  acceptedAt: null,
};
export const LISTED_EXAMPLE: Grant = Grant.of({ ...ACME_TO_BETA, name: 'Acme Corporation AG' });
export const REVOKED: GrantRecord = { ...ACME_TO_BETA, status: 'revoked', revokedAt: new Date('2026-02-01T00:00:00Z') };
export const TO_ALL: GrantRecord = { ...ACME_TO_BETA, ...ALL_SUBJECTS };
export const PENDING: PendingGrantRecord = {
  grantId: EXAMPLE_IDS.pending_grant_id,
  grantorTenantId: 'acme',
  granteeTenantId: 'beta',
  scopes: ['read_latest'],
  expiresAt: null,
  purpose: null,
  status: 'pending',
  requestedBy: 'oidc:dev#alice',
  createdAt: new Date('2026-01-20T08:00:00Z'),
  confirmBy: new Date('2099-01-21T08:00:00Z'),
  confirmedBy: null,
  confirmedAt: null,
  cancelledBy: null,
  cancelledAt: null,
};
export const CANCELLED: PendingGrantRecord = {
  ...PENDING,
  status: 'cancelled',
  cancelledBy: 'oidc:dev#alice',
  cancelledAt: new Date('2026-01-20T08:30:00Z'),
};
export const TO_ACCEPT: GrantRecord = {
  ...ACME_TO_BETA,
  acceptedAt: new Date('2026-01-20T08:00:00Z'),
};
export const ACCESSIBLE_EXAMPLE: AccessibleSubject = {
  ...AccessibleSubject.of({ ...ACME_TO_BETA, latest: null }),
  latest_snapshot: SNAPSHOT_HEADER_EXAMPLE,
};

export const GRANT_RESULTS_EXAMPLE: GrantResults = {
  items: [
    { index: 0, status: 201, grant: Grant.of(ACME_TO_BETA) },
    {
      index: 1,
      status: 409,
      error: {
        code: 'conflict',
        message: 'The grantee tenant does not exist. Check its tenant_id.',
        details: [{ path: '/grants/1/grantee_tenant_id', message: 'is not an existing tenant', code: 'conflict' }],
        request_id: EXAMPLE_IDS.request_id,
      },
    },
  ],
};
