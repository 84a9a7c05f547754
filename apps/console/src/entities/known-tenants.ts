import type { api } from '@identity-state/client';
import { tenantPath, useList, useTenants } from '../app/api.ts';
import { useMayUseGrants } from '../app/rights.ts';

const ENOUGH = 200;

/** Returns tenants to choose from: those that this tenant shares with, those that share with it, and the caller's own. */
export function useKnownTenants(tenantId: string): readonly string[] {
  const mayUse = useMayUseGrants(tenantId);
  const issued = useList<api.Grant>(tenantPath(tenantId, 'grants'), { limit: ENOUGH });
  const held = useList<api.AccessibleSubject>(mayUse === true ? tenantPath(tenantId, 'accessible-subjects') : null, {
    limit: ENOUGH,
  });
  const own = useTenants();
  const all = [
    ...issued.items.map(({ grantee_tenant_id: id }) => id),
    ...held.items.map(({ granted_by_tenant_id: id }) => id),
    ...own.items.map(({ tenant_id: id }) => id),
  ];
  return [...new Set(all)].filter((id) => id !== tenantId).sort();
}
