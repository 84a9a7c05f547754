import { type AccessRule, rolesFrom, type RULES, type SubjectRef } from '@iss/domain';
import type { Columns } from '../../sql/columns';
import { fragmentText } from '../../sql/sql-files';

/** The record of a read of another tenant's subject. */
export interface SubjectDisclosure {
  subjectKey: number;
  /** The tenant whose grant allows the read; null if no grant is needed (`GLOBAL_READS=public`). */
  granteeTenantId: string | null;
  /** The grant that allows the read: the one on the subject, or else the one on all subjects. Null as above. */
  grantId: string | null;
}

// Fragments of facts.sql, for statements in TypeScript.
export const FACTS = fragmentText('facts');
export const TO_ALL = {
  byEnd: fragmentText('to_all_by_end'),
  made: fragmentText('to_all_made'),
  changed: fragmentText('to_all_changed'),
};
export const MEMBER_ACCESS = memberAccess('i.tenant_id');
export const TENANT_ACCESS = fragmentText('tenant_access', `'{}'`);
export const DISCLOSURE = {
  tenant: fragmentText('disclosed', 'i.tenant_id'),
  global: fragmentText('disclosed', 'f.grantee_tenant_id'),
};

export function memberAccess(tenantId: string): string {
  return fragmentText('member_access', tenantId);
}

export const isAcceptedGrantToAll = (grantor: string, grantee: string): string =>
  fragmentText('accepted_grant_to_all', grantor, grantee);

export const scopesFollowedBy = (grantee: string): string => fragmentText('scopes_followed_by', grantee);

/** Returns the columns of the subject `s` of grant `g`. */
export const grantedColumns = (): Columns<SubjectRef> => ({
  subjectType: fragmentText('granted_type', 'g', 's'),
  subjectId: fragmentText('granted_id', 'g', 's'),
});

/** Returns the roles that satisfy a rule, as a list for IN. */
export function rolesOf({ role }: AccessRule): string {
  return rolesFrom(role)
    .map((name) => `'${name}'`)
    .join(', ');
}

export function readAccess(form: 'tenant' | 'global', rule: keyof typeof RULES): string {
  return fragmentText(`${form}_read`, rule);
}
