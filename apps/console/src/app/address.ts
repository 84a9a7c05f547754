import { useParams } from '@tanstack/react-router';
import type { SubjectType } from '@identity-state/client';
import { encodePath, tenantPath } from './api.ts';

const TENANT = '/signed-in/t/$tenantId';
const SUBJECT = '/signed-in/t/$tenantId/subjects/$subjectType/$subjectId';

/** The view of a subject, for links. */
export const SUBJECT_VIEW = '/t/$tenantId/subjects/$subjectType/$subjectId';
/** The path of a subject in calls. */
export const OF_SUBJECT = '/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}';

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
  /** The values of {@link OF_SUBJECT}. */
  readonly ids: { readonly tenant_id: string; readonly subject_type: SubjectType; readonly subject_id: string };
}

/** Returns the subject that the address names. */
export function useSubject(): SubjectAddress {
  const params = useParams({ from: SUBJECT });
  const { tenantId, subjectId } = params;
  const subjectType = isSubjectType(params.subjectType) ? params.subjectType : 'entity';
  return {
    tenantId,
    subjectId,
    params,
    subjectType,
    ids: { tenant_id: tenantId, subject_type: subjectType, subject_id: subjectId },
    path: tenantPath(tenantId, 'subjects', params.subjectType, subjectId),
    view: encodePath('t', tenantId, 'subjects', params.subjectType, subjectId),
    globalPath: encodePath('v1', 'subjects', params.subjectType, subjectId),
  };
}

function isSubjectType(text: string): text is SubjectType {
  return text === 'organization' || text === 'individual' || text === 'entity';
}
