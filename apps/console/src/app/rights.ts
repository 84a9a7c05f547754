import { isAtLeast, type Role } from '@iss/domain/pure';
import { RIGHTS } from '../generated/rights.ts';
import { apiCall, useList, useTenants } from './api.ts';
import { useSession } from './context.tsx';

/** A route of docs/authorization.md: `POST /v1/tenants/{tenant_id}/grants`, or with a case: `…, on all subjects`. */
export type DocumentedRoute = keyof typeof RIGHTS;

export function useRole(tenantId: string): Role | null {
  return useTenants().items.find((tenant) => tenant.tenant_id === tenantId)?.role ?? null;
}

/** Returns whether the caller's role allows a route, so that the console offers only allowed actions. The service decides. */
export function useMay(tenantId: string): (route: DocumentedRoute) => boolean {
  const role = useRole(tenantId);
  return (route) => {
    const least = RIGHTS[route];
    return role !== null && isAtLeast(role, least);
  };
}

/** Returns whether a principal, `oidc:{project}#{sub}`, is the one that signed in. */
export function isCaller(principalId: string, sub: string): boolean {
  return sub !== '' && principalId.endsWith(`#${sub}`);
}

/** Returns whether the caller's own flag lets it use grants of its tenant, or undefined while unknown. */
export function useMayUseGrants(tenantId: string): boolean | undefined {
  const { subject } = useSession();
  const { items, isPending } = useList(
    apiCall('GET', '/v1/tenants/{tenant_id}/principals', { path: { tenant_id: tenantId }, query: { limit: 1_000 } }),
  );
  if (isPending) return undefined;
  const own = items.find(({ principal_id: id }) => isCaller(id, subject));
  // If the list does not contain the caller, the service decides.
  return own?.allow_counterparty_access !== false;
}
