import { DomainError } from '@iss/domain';
import type { AccessibleFilter, ContentSearch, GrantFilter, GrantRecord, PendingGrantRecord } from '@iss/persistence';
import {
  AccessibleListQuery,
  ERROR_STATUSES,
  Grant,
  GrantResult,
  GrantResults,
  GrantsQuery,
  PendingGrant,
} from '@iss/contract';
import type { GrantResultRecord } from './grant.service';
import { errorBody } from '../../http/errors/error-body';
import { contentSearch } from '../../http/request/content-search';
import { invalidQuery, subjectSent } from '../../http/request/subject-filter';

export function isPending(grant: GrantRecord | PendingGrantRecord): grant is PendingGrantRecord {
  return 'confirmBy' in grant;
}

/** Returns the filters of a query. Throws `validation_error` for an incomplete subject. */
export function grantFilter(sent: GrantsQuery): GrantFilter {
  return {
    status: sent.status ?? null,
    granteeTenantId: sent.grantee_tenant_id ?? null,
    grantorTenantId: sent.grantor_tenant_id ?? null,
    subject: subjectSent(sent),
  };
}

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
