import { RULES } from '@iss/domain';
import { part, view, type ViewOf } from '../describe/view';
import * as f from '../describe/fields';
import { query, type SentOf } from '../describe/shape';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { operations } from '../describe/operation';
import { paged } from '../describe/page';
import { paths } from '../sharing/grant';
import { logIndex } from './log';

/** A period in which a tenant could read a subject. */
export const AccessPeriodView = view('AccessPeriod', {
  grant_id: f.uuid.described('The grant.'),
  grantee_tenant_id: f.tenantId.described('The tenant that could read the subject.'),
  subject_type: f.grantedType,
  subject_id: f.grantedId,
  scopes: f.scopes,
  paths,
  from: f.time.described(
    'When the period begins: when the grant was created, was changed or started. Equal to `until` if the grant gave ' +
      'no rights in this period.',
  ),
  until: f.time.nullable().described('The end; null: none.'),
  ended_by: f
    .oneOf(['revoked', 'expired', 'replaced'])
    .nullable()
    .described(
      'The cause of the end; null while the grant is live. `replaced`: the grant was changed, and the next ' +
        'period begins.',
    ),
  granted: part({ log_index: logIndex.from('grantedIndex') })
    .fromRecord()
    .described('The log entry of the start.'),
  ended: part({ log_index: logIndex.from('endedIndex') })
    .fromRecord()
    .described(
      'The log entry of the end, if the grant was revoked or changed. An expiry has no entry; it follows from ' +
        'the grant.',
    ),
});
export type AccessPeriodView = ViewOf<typeof AccessPeriodView>;

/** A change of the owners of a tenant. */
export const OwnerChangeView = view('OwnerChange', {
  principal_id: f.principalId.nullable().described('The new owner; null if nobody replaced the previous one.'),
  from_principal_id: f.principalId
    .nullable()
    .described('The previous owner; null if the tenant was founded, or if it gained a further owner.'),
  changed_at: f.time.described('When the owner changed.'),
  log_index: logIndex,
});
export type OwnerChangeView = ViewOf<typeof OwnerChangeView>;

export const AccessHistoryQuery = query({
  ...f.PAGE,
  at: f.text
    .optional()
    .example('2026-01-20T00:00:00Z')
    .described(
      'An RFC 3339 date-time, or a UTC date for the end of that day: only tenants that could read at that ' +
        'moment. A page may be short or empty and still have a `next_cursor`.',
    ),
});
export type AccessHistoryQuery = SentOf<typeof AccessHistoryQuery>;

const ACCESS_PERIOD_EXAMPLE: AccessPeriodView = {
  grant_id: EXAMPLE_IDS.grant_id,
  grantee_tenant_id: 'beta',
  subject_type: 'organization',
  subject_id: 'acme-corp',
  scopes: ['read_latest'],
  paths: null,
  from: '2026-01-15T10:00:00.000Z',
  until: '2026-02-01T00:00:00.000Z',
  ended_by: 'revoked',
  granted: { log_index: 1 },
  ended: { log_index: 2 },
};

const OWNER_CHANGE_EXAMPLE: OwnerChangeView = {
  principal_id: 'oidc:dev#alice',
  from_principal_id: null,
  changed_at: '2026-01-15T09:00:00.000Z',
  log_index: 3,
};

export const HISTORIES = operations('Transparency log', '/v1/tenants/{tenant_id}', {
  listAccessHistory: {
    route: 'GET /subjects/{subject_type}/{subject_id}/access-history',
    summary: 'List the periods in which tenants could read a subject, newest first',
    who: RULES.manageGrants,
    ...paged('One page.', AccessPeriodView, [ACCESS_PERIOD_EXAMPLE]),
    query: AccessHistoryQuery,
    description: 'The list has live and ended grants. `…/grants/{grant_id}/log-proof` proves each period.',
  },
  listOwnerHistory: {
    route: 'GET /owner-history',
    summary: 'List the changes of the tenant’s owners, newest first',
    who: RULES.readTenant,
    ...paged('One page.', OwnerChangeView, [OWNER_CHANGE_EXAMPLE]),
    description: 'The list has the founding, transfers, and every other change of the tenant’s owners.',
  },
});
