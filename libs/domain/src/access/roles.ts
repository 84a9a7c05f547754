/** Functional roles, weakest first. Each role may do all that the ones before it may (specification, "Roles (cumulative)"). */
export const ROLES = ['tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner'] as const;
export type Role = (typeof ROLES)[number];

/** What kind of caller a principal is (specification, "Authentication" 7). */
export const PRINCIPAL_TYPES = ['human', 'service_account', 'ai_agent'] as const;
export type PrincipalType = (typeof PRINCIPAL_TYPES)[number];

/** The administrative role beside the functional one: who administers the account. */
export const TENANCY_ROLES = ['account_admin', 'member'] as const;
export type TenancyRole = (typeof TENANCY_ROLES)[number];

/** Whether `held` grants everything that `required` does. */
export function isAtLeast(held: Role, required: Role): boolean {
  return ROLES.indexOf(held) >= ROLES.indexOf(required);
}

/** Every role that satisfies `required`, for statements that check the role where the rows are. */
export function rolesFrom(required: Role): readonly Role[] {
  return ROLES.slice(ROLES.indexOf(required));
}
