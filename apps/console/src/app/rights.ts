import type { api } from '@identity-state/client';
import { RIGHTS } from '../generated/rights.ts';
import { tenantPath, useList, useTenants } from './api.ts';
import { useSession } from './context.tsx';

type Role = api.TenantOfMember['role'];
/** A route of docs/authorization.md, as `POST /v1/tenants/{tenant_id}/grants`; with a case, `…, on all subjects`. */
export type Route = keyof typeof RIGHTS;

/** From the least to the most. */
const ROLES: readonly Role[] = ['tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner'];

export function useRole(tenantId: string): Role | null {
  return useTenants().items.find((tenant) => tenant.tenant_id === tenantId)?.role ?? null;
}

/**
 * Whether the caller's role in its own tenant is enough: what is not, is not offered. The service decides, this is about
 * what is shown.
 */
export function useMay(tenantId: string): (route: Route) => boolean {
  const role = useRole(tenantId);
  return (route) => {
    const least = RIGHTS[route];
    return role !== null && ROLES.indexOf(role) >= ROLES.indexOf(least);
  };
}

/** A principal is `oidc:{project}#{sub}`; a sign-in knows its `sub`. */
export function isCaller(principalId: string, sub: string): boolean {
  return sub !== '' && principalId.endsWith(`#${sub}`);
}

/** Says whether the caller's own flag lets it use what others share with its tenant. Undefined while that is not known. */
export function useMayUseGrants(tenantId: string): boolean | undefined {
  const { subject } = useSession();
  const { items, isPending } = useList<api.Principal>(tenantPath(tenantId, 'principals'), { limit: 1_000 });
  if (isPending) return undefined;
  const own = items.find(({ principal_id: id }) => isCaller(id, subject));
  // The service decides where the list does not say.
  return own?.allow_counterparty_access !== false;
}
