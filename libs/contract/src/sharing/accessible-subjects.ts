import { RULES, SUBJECT_TYPES } from '@iss/domain';
import { view, type ViewOf } from '../describe/view';
import * as f from '../describe/fields';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from '../snapshots/snapshot-header';
import { query, type SentOf } from '../describe/shape';
import { ACME_TO_BETA, grantedBy, paths, purpose } from './grant';
import { operations } from '../describe/operation';
import { paged, SHORT_PAGES } from '../describe/page';
import { SPECIFIED_LISTS } from '../describe/page-limits';

/**
 * An item of the list of accessible subjects (specification, "Grants"). Has `latest_snapshot` only with the scope
 * `read_latest`.
 */
export const AccessibleSubject = view('AccessibleSubject', {
  subject_type: f.subjectType,
  subject_id: f.subjectId,
  name: f.subjectName.described('The name in the latest version. Present only in a search by `identifier` or `q`.'),
  granted_by_tenant_id: f.tenantId.from('grantorTenantId').described('The tenant that gave the grant.'),
  grant_id: f.uuid.described(
    'The id of the grant. If there is a grant on this subject and one on all subjects, the id of the former.',
  ),
  scopes: f.scopes.described('The reads that the grants permit.'),
  paths: paths.described(
    'The parts of the latest version that the grants show: JSON Pointers below `/attributes`. Null: everything. If no grant ' +
      'gives `read_latest`, the parts of other versions.',
  ),
  expires_at: f.time.nullable().described('When that grant expires; null: never.'),
  granted_by: grantedBy,
  purpose,
  latest_snapshot: SnapshotHeader.optional()
    .from('latest')
    .described('The header of the latest snapshot. Present only with `read_latest`.'),
});
export type AccessibleSubject = ViewOf<typeof AccessibleSubject>;

export const AccessibleListQuery = query({
  ...f.PAGE,
  subject_type: f
    .oneOf(SUBJECT_TYPES)
    .optional()
    .example('organization')
    .described('Only subjects of this type. Absent: all types.'),
  subject_id: f.subjectId.optional().example('acme-corp').described('Only this subject; send `subject_type` too.'),
  subject_id_prefix: f
    .prefix(512)
    .optional()
    .example('acme-')
    .described('The beginning of the id, compared byte for byte.'),
  granted_by_tenant_id: f.tenantId.optional().example('acme').described('Only subjects that this tenant granted.'),
  ...f.CONTENT_FILTERS,
});
export type AccessibleListQuery = SentOf<typeof AccessibleListQuery>;

const ACCESSIBLE_EXAMPLE: AccessibleSubject = {
  ...AccessibleSubject.of({ ...ACME_TO_BETA, latest: null }),
  latest_snapshot: SNAPSHOT_HEADER_EXAMPLE,
};

export const ACCESSIBLE_SUBJECTS = operations('Grants', '/v1/tenants/{tenant_id}', {
  listAccessibleSubjects: {
    route: 'GET /accessible-subjects',
    summary: 'List subjects of other tenants that this tenant may read',
    who: RULES.readAccessibleSubjects,
    ...paged('One page.', AccessibleSubject, [ACCESSIBLE_EXAMPLE], SPECIFIED_LISTS.accessibleSubjects),
    query: AccessibleListQuery,
    description:
      'The caller needs `allow_counterparty_access`. The list has only subjects with a live grant. Subjects ' +
      'with their own grant come first, then all subjects of each tenant that granted all of them and whose ' +
      'grant was used or accepted. `identifier` and `q` only search subjects on which the tenant holds ' +
      '`read_latest`, and whose name or identifier the grants show. Each hit is recorded as a disclosure to the caller, with `search` as `via`. ' +
      SHORT_PAGES,
    examples: { tenant_id: 'beta' },
  },
});
