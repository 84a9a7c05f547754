import { useParams } from '@tanstack/react-router';
import type { SubjectType } from '@identity-state/client';
import { pathOf, tenantPath } from './api.ts';

const TENANT = '/signed-in/t/$tenantId';
const SUBJECT = '/signed-in/t/$tenantId/subjects/$subjectType/$subjectId';

/** Returns the tenant that the address names. */
export function useTenantId(): string {
  return useParams({ from: TENANT }).tenantId;
}

export interface SubjectAddress {
  readonly tenantId: string;
  readonly subjectType: SubjectType;
  readonly subjectId: string;
  /** `/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}` */
  readonly path: string;
  /** `/v1/subjects/{subject_type}/{subject_id}` */
  readonly globalPath: string;
  /** The common beginning of the addresses of its views: `/t/{tenant_id}/subjects/{subject_type}/{subject_id}` */
  readonly view: string;
  readonly params: { readonly tenantId: string; readonly subjectType: string; readonly subjectId: string };
}

/** Returns the subject that the address names. */
export function useSubject(): SubjectAddress {
  const params = useParams({ from: SUBJECT });
  const { tenantId, subjectType, subjectId } = params;
  return {
    tenantId,
    subjectId,
    params,
    subjectType: isSubjectType(subjectType) ? subjectType : 'entity',
    path: tenantPath(tenantId, 'subjects', subjectType, subjectId),
    view: pathOf('t', tenantId, 'subjects', subjectType, subjectId),
    globalPath: pathOf('v1', 'subjects', subjectType, subjectId),
  };
}

function isSubjectType(text: string): text is SubjectType {
  return text === 'organization' || text === 'individual' || text === 'entity';
}
