import { apiCall, useList, useTenants } from '../app/api.ts';
import { useMayUseGrants } from '../app/rights.ts';

const ENOUGH = 200;

/** Returns tenants to choose from: those that this tenant shares with, those that share with it, and the caller's own. */
export function useKnownTenants(tenantId: string): readonly string[] {
  const mayUse = useMayUseGrants(tenantId);
  const parameters = { path: { tenant_id: tenantId }, query: { limit: ENOUGH } };
  const issued = useList(apiCall('GET', '/v1/tenants/{tenant_id}/grants', parameters));
  const received = useList(
    mayUse === true ? apiCall('GET', '/v1/tenants/{tenant_id}/accessible-subjects', parameters) : null,
  );
  const own = useTenants();
  const all = [
    ...issued.items.map(({ grantee_tenant_id: id }) => id),
    ...received.items.map(({ granted_by_tenant_id: id }) => id),
    ...own.items.map(({ tenant_id: id }) => id),
  ];
  return [...new Set(all)].filter((id) => id !== tenantId).sort();
}
