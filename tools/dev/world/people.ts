export const ROLES = ['tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner'] as const;

/** What a user is in a tenant of the seeded world. */
export interface Membership {
  user: string;
  tenant: 'acme' | 'beta' | 'gamma';
  role: (typeof ROLES)[number];
  /** Absent: a human. */
  type?: 'service_account' | 'ai_agent';
  /** Whether it reads by the tenant's grants. */
  readsByGrants?: true;
  /** It is no member any more. */
  removed?: true;
}

/** The founders, who own their tenants. */
export const OWNERS = { acme: 'alice', beta: 'bob', gamma: 'carol' } as const;

/** Who acts for the tenants besides their founders. */
export const MEMBERSHIPS: readonly Membership[] = [
  { user: 'dora', tenant: 'acme', role: 'tenant_admin', readsByGrants: true },
  { user: 'erik', tenant: 'acme', role: 'tenant_editor' },
  { user: 'frida', tenant: 'acme', role: 'tenant_proposer' },
  { user: 'gustav', tenant: 'acme', role: 'tenant_reader' },
  { user: 'acme-archive', tenant: 'acme', role: 'tenant_editor', type: 'service_account' },
  { user: 'acme-reviewer', tenant: 'acme', role: 'tenant_proposer', type: 'ai_agent' },
  { user: 'hugo', tenant: 'acme', role: 'tenant_editor', removed: true },
  { user: 'ines', tenant: 'beta', role: 'tenant_editor', readsByGrants: true },
  // Reads what beta owns, and by its grants nothing.
  { user: 'jonas', tenant: 'beta', role: 'tenant_reader' },
  { user: 'beta-archive', tenant: 'beta', role: 'tenant_editor', type: 'service_account' },
  { user: 'gamma-archive', tenant: 'gamma', role: 'tenant_editor', type: 'service_account' },
  // In two tenants.
  { user: 'gustav', tenant: 'gamma', role: 'tenant_reader', readsByGrants: true },
];

/** Whom the sign-in page of the development identity provider offers, with what each is. */
export const DEVELOPERS: readonly (readonly [user: string, what: string])[] = [
  ...Object.entries(OWNERS).map(([tenant, user]) => [user, `owner of ${tenant}`] as const),
  ...['dora', 'erik', 'frida', 'gustav', 'ines', 'jonas'].map((name) => {
    const roles = MEMBERSHIPS.filter(({ user }) => user === name).map(({ role, tenant }) => `${role} in ${tenant}`);
    return [name, roles.join(', ')] as const;
  }),
];
