import type { TenantOfMember, TenantRecord } from '@iss/persistence';

/** Returns the record for {@link TenantItem} and {@link TenantOfCaller}. */
export function withCaller({
  tenant,
  role: callerRole,
  tenancyRole: administrative,
}: TenantOfMember): TenantRecord & Omit<TenantOfMember, 'tenant'> {
  return { ...tenant, role: callerRole, tenancyRole: administrative };
}
