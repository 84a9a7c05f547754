export const ROLES = ['tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner'] as const;

/** The membership of a user in a tenant of the world. */
export interface Membership {
  user: string;
  tenant: 'acme' | 'beta' | 'gamma';
  role: (typeof ROLES)[number];
  /** Absent for a human. */
  type?: 'service_account' | 'ai_agent';
  /** It may use grants of the tenant. */
  readsByGrants?: true;
  removed?: true;
}

/** The founders and owners of the tenants. */
export const OWNERS = { acme: 'alice', beta: 'bob', gamma: 'carol' } as const;

/** The members of the tenants, without the founders. */
export const MEMBERSHIPS: readonly Membership[] = [
  { user: 'dora', tenant: 'acme', role: 'tenant_admin', readsByGrants: true },
  { user: 'erik', tenant: 'acme', role: 'tenant_editor' },
  { user: 'frida', tenant: 'acme', role: 'tenant_proposer' },
  { user: 'gustav', tenant: 'acme', role: 'tenant_reader' },
  { user: 'acme-archive', tenant: 'acme', role: 'tenant_editor', type: 'service_account' },
  { user: 'acme-reviewer', tenant: 'acme', role: 'tenant_proposer', type: 'ai_agent' },
  { user: 'hugo', tenant: 'acme', role: 'tenant_editor', removed: true },
  { user: 'ines', tenant: 'beta', role: 'tenant_editor', readsByGrants: true },
  // Reads beta's own subjects, but not by grants.
  { user: 'jonas', tenant: 'beta', role: 'tenant_reader' },
  { user: 'beta-archive', tenant: 'beta', role: 'tenant_editor', type: 'service_account' },
  { user: 'gamma-archive', tenant: 'gamma', role: 'tenant_editor', type: 'service_account' },
  { user: 'gustav', tenant: 'gamma', role: 'tenant_reader', readsByGrants: true },
];

/** The users on the sign-in page of the development identity provider, with their roles. */
export const DEVELOPERS: readonly (readonly [user: string, what: string])[] = [
  ...Object.entries(OWNERS).map(([tenant, user]) => [user, `owner of ${tenant}`] as const),
  ...['dora', 'erik', 'frida', 'gustav', 'ines', 'jonas'].map((name) => {
    const roles = MEMBERSHIPS.filter(({ user }) => user === name).map(({ role, tenant }) => `${role} in ${tenant}`);
    return [name, roles.join(', ')] as const;
  }),
];
