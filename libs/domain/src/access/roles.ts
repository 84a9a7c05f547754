/**
 * Functional roles, weakest first. Each role includes the rights of the previous ones (specification, "Roles
 * (cumulative)").
 */
export const ROLES = ['tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner'] as const;
export type Role = (typeof ROLES)[number];

/** The type of a principal (specification, "Authentication" 7). */
export const PRINCIPAL_TYPES = ['human', 'service_account', 'ai_agent'] as const;
export type PrincipalType = (typeof PRINCIPAL_TYPES)[number];

/** The administrative role, which is independent of the functional one: `account_admin` administers the account. */
export const TENANCY_ROLES = ['account_admin', 'member'] as const;
export type TenancyRole = (typeof TENANCY_ROLES)[number];

/** Checks whether the role `held` includes all rights of `required`. */
export function isAtLeast(held: Role, required: Role): boolean {
  return ROLES.indexOf(held) >= ROLES.indexOf(required);
}

/** Returns every role that satisfies `required`, for statements that check the role themselves. */
export function rolesFrom(required: Role): readonly Role[] {
  return ROLES.slice(ROLES.indexOf(required));
}
