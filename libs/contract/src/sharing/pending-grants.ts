import { ALL_SUBJECTS, PENDING_GRANT_STATUSES, RULES } from '@iss/domain';
import { type RecordOf, view, type ViewOf } from '../describe/view';
import { oneOf, principalId, scopes, tenantId, time, uuid } from '../describe/fields';
import { constant } from '../describe/field';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { answer, operations } from '../describe/operation';
import { paged } from '../describe/page';
import { Grant, paths, purpose, startsAt, TO_ALL } from './grant';

/** A requested grant on all subjects that a second human must confirm. */
export const PendingGrant = view('PendingGrant', {
  grant_id: uuid.described('The id of the grant, once it is created.'),
  grantor_tenant_id: tenantId.described('The tenant that issues the grant.'),
  grantee_tenant_id: tenantId.described('The tenant that receives the grant.'),
  subject_type: constant(ALL_SUBJECTS.subjectType).described('Always `*`: all subjects of the grantor.'),
  subject_id: constant(ALL_SUBJECTS.subjectId).described('Always `*`.'),
  scopes,
  paths,
  starts_at: startsAt,
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

export const PENDING_GRANT: RecordOf<typeof PendingGrant> = {
  grantId: EXAMPLE_IDS.pending_grant_id,
  grantorTenantId: 'acme',
  granteeTenantId: 'beta',
  scopes: ['read_latest'],
  paths: null,
  startsAt: null,
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

const CANCELLED: RecordOf<typeof PendingGrant> = {
  ...PENDING_GRANT,
  status: 'cancelled',
  cancelledBy: 'oidc:dev#alice',
  cancelledAt: new Date('2026-01-20T08:30:00Z'),
};

const EXAMPLE = { grant_id: EXAMPLE_IDS.pending_grant_id };

export const PENDING_GRANTS = operations('Grants', '/v1/tenants/{tenant_id}/pending-grants', {
  listPendingGrants: {
    route: 'GET ',
    summary: 'List the grants on all subjects that wait for a second human, newest first',
    who: RULES.confirmGrants,
    ...paged('One page.', PendingGrant, [PendingGrant.of(PENDING_GRANT)]),
    description: 'The list has all requests made while `grant_confirmation` was `required`, including ended ones.',
  },
  confirmGrant: {
    route: 'POST /{grant_id}/confirm',
    summary: 'Confirm and create a grant on all subjects',
    who: RULES.confirmGrants,
    description:
      'Needs a human other than the one who requested the grant (403, or 422 if not human). 409 unless the ' +
      'request is pending, and 409 while the grantee has another grant on all subjects.',
    answers: { 200: answer('The grant.', Grant, Grant.of(TO_ALL)) },
    errors: ['not_found', 'conflict', 'human_principal_required'],
    examples: EXAMPLE,
  },
  cancelPendingGrant: {
    route: 'POST /{grant_id}/cancel',
    summary: 'Cancel a grant on all subjects that was not confirmed',
    who: RULES.confirmGrants,
    description:
      'Any permitted principal can cancel the request, including the one that made it. An `expired` request can ' +
      'be cancelled too. 409 if the request ended in another way.',
    answers: { 200: answer('The cancelled request.', PendingGrant, PendingGrant.of(CANCELLED)) },
    errors: ['not_found', 'conflict'],
    examples: EXAMPLE,
  },
});
