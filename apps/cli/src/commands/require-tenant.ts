import type { LimitOverrideStore, LimitOwner } from '@iss/persistence';
import { Failure } from '../command';

/** A tenant that is named exists; of principals nobody keeps a list. */
export async function requireTenant(overrides: LimitOverrideStore, { scope, scopeId }: LimitOwner): Promise<void> {
  if (scope !== 'tenant' || (await overrides.hasTenant(scopeId))) return;
  throw new Failure(`There is no tenant ${scopeId} in this database. Check the tenant_id, and DATABASE_URL.`);
}
