import type { LimitOverrideStore, LimitOwner } from '@iss/persistence';
import { Failure } from '../command';

/** Requires that a named tenant exists. The database has no list of principals. @throws Failure */
export async function requireTenant(overrides: LimitOverrideStore, { scope, scopeId }: LimitOwner): Promise<void> {
  if (scope !== 'tenant' || (await overrides.hasTenant(scopeId))) return;
  throw new Failure(`This database has no tenant ${scopeId}. Check the tenant_id and DATABASE_URL.`);
}
