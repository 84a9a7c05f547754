import { ALL_SUBJECTS, type ErrorDetail, GRANT_DIRECTIONS, type JsonObject, RULES, SUBJECT_TYPES } from '@iss/domain';
import * as f from '../describe/fields';
import { view, type ViewOf } from '../describe/view';
import { body, query, type SentOf } from '../describe/shape';
import { listOf, withMembers } from '../describe/field';
import { PENDING_GRANT, PendingGrant } from './pending-grants';
import { ErrorEnvelope } from '../describe/errors';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { answer, operations } from '../describe/operation';
import { paged, SHORT_PAGES } from '../describe/page';
import { SPECIFIED_LISTS } from '../describe/page-limits';
import {
  ACME_TO_BETA,
  CreatedGrant,
  Grant,
  grantStatus,
  LISTED_EXAMPLE,
  purpose,
  REVOKED,
  SENT_TERMS,
  TO_ACCEPT,
} from './grant';

export const GrantsQuery = query({
  ...f.PAGE,
  direction: f
    .oneOf(GRANT_DIRECTIONS)
    .optional()
    .described(
      '`issued`: grants that the tenant issued (the default). `received`: grants that it received. `offered`: ' +
        'grants on all subjects of other tenants that it has neither used nor accepted.',
    )
    .example('issued'),
  status: grantStatus.optional().example('active').described('Only grants that have this status now.'),
  grantee_tenant_id: f.tenantId.optional().example('beta').described('Only grants to this tenant.'),
  grantor_tenant_id: f.tenantId.optional().example('acme').described('Only grants that this tenant issued.'),
  subject_type: f.grantedType
    .optional()
    .example('organization')
    .described(
      'Only grants on this subject; send `subject_id` too. `*` alone: only grants on all subjects of their grantor.',
    ),
  subject_id: f.grantedId.optional().example('acme-corp').described('The subject’s id, compared byte for byte.'),
});
export type GrantsQuery = SentOf<typeof GrantsQuery>;

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
    grantee_tenant_id: f.tenantId.described('An existing tenant.').example('beta'),
    subject_type: f.grantedType.example('organization'),
    subject_id: f.subjectId
      .optional()
      .described('The subject’s id, compared byte for byte. Leave it out with the type `*`.')
      .example('acme-corp'),
    scopes: f.scopes.example(['read_latest']),
    ...SENT_TERMS,
    expires_at: f.time
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
    part: {
      summary: 'A part of each version, from a day on',
      value: {
        grantee_tenant_id: 'beta',
        subject_type: 'organization',
        subject_id: 'acme-corp',
        scopes: ['read_latest'],
        paths: ['/attributes/legal/legal_name', '/attributes/legal/registered_address'],
        starts_at: '2098-01-01T00:00:00Z',
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
    grants: withMembers(f.arrayWith(CreateGrantBody.schema), CreateGrantBody.names).described(
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
export const GrantResult = view('GrantResult', {
  index: f.count.described('The index in `grants`, from 0.'),
  status: f.integer.described(
    'The status that a single request would have returned: 201, 202, or the status of `error`.',
  ),
  grant: Grant.optional().described('The grant, if it was created.'),
  pending_grant: PendingGrant.optional().described('The pending request, if another human must confirm it.'),
  error: ErrorEnvelope.fields.error.optional(),
});
export type GrantResult = ViewOf<typeof GrantResult>;

/** The response to a batch. */
export const GrantResults = view('GrantResults', {
  items: listOf(GrantResult).described('One result for each of `grants`, in the same order.'),
});
export type GrantResults = ViewOf<typeof GrantResults>;

/** Body of `PATCH …/grants/{grant_id}`. */
export const ChangeGrantBody = body(
  'ChangeGrantBody',
  {
    scopes: f.scopes.optional().described('The reads that the grant permits from now on.').example(['read_latest']),
    ...SENT_TERMS,
    expires_at: f.time
      .nullable()
      .optional()
      .described('When the grant expires; must be in the future. Null: never.')
      .example('2099-01-01T00:00:00Z'),
    purpose: purpose.optional().example('Onboarding of 2026'),
    reason: f
      .prose(500)
      .nullable()
      .optional()
      .described('The reason for the change, stored with it.')
      .example('Wider review'),
  },
  {
    narrower: { value: { scopes: ['read_latest'] } },
    part: { value: { paths: ['/attributes/legal'] } },
    until: { value: { expires_at: '2099-01-01T00:00:00Z', reason: 'Prolonged' } },
  },
);
export type ChangeGrantBody = SentOf<typeof ChangeGrantBody>;

const GRANT_RESULTS_EXAMPLE: GrantResults = {
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

export const GRANTS = operations('Grants', '/v1/tenants/{tenant_id}', {
  createGrant: {
    route: 'POST /grants',
    summary: 'Let another tenant read one subject or all subjects that this tenant owns',
    who: RULES.manageGrants,
    body: CreateGrantBody,
    description:
      'The grantee must exist, and can have at most one active or scheduled grant on a subject (409 otherwise). With the ' +
      '`subject_type` `*`, the grant covers all subjects that this tenant owns, now or later. The grantee can ' +
      'have one such grant beside grants on single subjects; the scopes add up. While the tenant’s ' +
      '`grant_confirmation` is `required`, a grant on all subjects is pending (202) and gives no rights until ' +
      'another human confirms it within a day.',
    answers: {
      201: answer('The grant, flat and wrapped.', CreatedGrant, CreatedGrant.of(ACME_TO_BETA)),
      202: answer(
        'A pending grant on all subjects, which another human must confirm.',
        PendingGrant,
        PendingGrant.of(PENDING_GRANT),
      ),
    },
    errors: ['conflict'],
  },
  createGrants: {
    route: 'POST /grants/batch',
    summary: 'Create many grants, each with its own result',
    who: RULES.manageGrants,
    body: CreateGrantsBody,
    description:
      'If one grant is refused, the others are still created. Each grant counts as one request against the rate ' +
      'limit. The same pair of subject and grantee must appear only once. If the service fails midway (503), ' +
      'grants already created stay, and the results name the others. Send the request again.',
    answers: { 200: answer('The results, in the order of the grants.', GrantResults, GRANT_RESULTS_EXAMPLE) },
  },
  listGrants: {
    route: 'GET /grants',
    summary: 'List grants that the tenant issued or received, newest first',
    who: RULES.readGrants,
    ...paged('One page.', Grant, [LISTED_EXAMPLE], SPECIFIED_LISTS.grants),
    query: GrantsQuery,
    description:
      'The list has active, scheduled, revoked and expired grants. Received grants on all subjects of another tenant ' +
      `appear under \`offered\` until the tenant uses or accepts them. ${SHORT_PAGES}`,
  },
  getGrant: {
    route: 'GET /grants/{grant_id}',
    summary: 'Read a grant',
    who: RULES.readGrants,
    description: 'Members of the issuing tenant and of the receiving tenant may read the grant.',
    answers: { 200: answer('The grant.', Grant, Grant.of(ACME_TO_BETA)) },
    errors: ['not_found'],
  },
  acceptGrant: {
    route: 'POST /grants/{grant_id}/accept',
    summary: 'Accept a grant that the tenant received',
    who: RULES.acceptGrants,
    description:
      'Using a grant accepts it too. A grant on all subjects of another tenant then appears in ' +
      '`accessible-subjects` and in `changes`. 409 unless the grant is active. Accepting it again changes ' +
      'nothing.',
    answers: { 200: answer('The accepted grant.', Grant, Grant.of(TO_ACCEPT)) },
    errors: ['not_found', 'conflict'],
    examples: { tenant_id: 'beta' },
  },
  listSubjectGrants: {
    route: 'GET /subjects/{subject_type}/{subject_id}/grants',
    summary: 'List all grants on a subject, newest first',
    who: RULES.manageGrants,
    ...paged('The grants.', Grant, [LISTED_EXAMPLE]),
    description:
      'The list has active, scheduled, revoked and expired grants, and those on all of the tenant’s subjects. It is paged ' +
      'only beyond 1000 grants.',
  },
  changeGrant: {
    route: 'PATCH /grants/{grant_id}',
    summary: 'Change the scopes, paths, start, expiry or purpose of a grant',
    who: RULES.manageGrants,
    body: ChangeGrantBody,
    description:
      'The change takes effect immediately. A change of anything but the purpose is stored and logged with the ' +
      'previous values; `…/access-history` lists the periods. A request that changes nothing is not recorded. 409 ' +
      'unless the grant is active or scheduled. A grant on all subjects that would give more, or earlier, also ' +
      'returns 409 while `grant_confirmation` is `required`.',
    answers: { 200: answer('The grant after the change.', Grant, Grant.of(ACME_TO_BETA)) },
    errors: ['not_found', 'conflict'],
  },
  revokeGrant: {
    route: 'POST /grants/{grant_id}/revoke',
    summary: 'Revoke a grant',
    who: RULES.manageGrants,
    description:
      'The grantee loses access through this grant immediately. It keeps what it has already read. 409 unless ' +
      'the grant is active or scheduled.',
    answers: { 200: answer('The revoked grant.', Grant, Grant.of(REVOKED)) },
    errors: ['not_found', 'conflict'],
  },
});
