import { ROLES, TENANCY_ROLES } from '@iss/domain';
import type { TenantRecord, TenantOfMember, UsageDay } from '@iss/persistence';
import { named, object, type Schema, TIMESTAMP } from '../../http/describe/openapi';
import type { UsageWindow } from './tenant.service';

interface TenantFields {
  tenant_id: string;
  name: string;
  slug: string | null;
  created_at: string;
  chain_enforced: boolean;
}

function tenantFields(tenant: TenantRecord): TenantFields {
  return {
    tenant_id: tenant.tenantId,
    name: tenant.name,
    slug: tenant.slug,
    created_at: tenant.createdAt.toISOString(),
    chain_enforced: tenant.chainEnforced,
  };
}

/** A tenant in both shapes of the specification: flat, and wrapped. */
export type TenantView = TenantFields & { tenant: TenantFields };

export function tenantView(tenant: TenantRecord): TenantView {
  const fields = tenantFields(tenant);
  return { ...fields, tenant: fields };
}

/** What the caller is in the tenant; its role under both names that the specification uses. */
interface CallerFields {
  api_functional_role: string;
  role: string;
  tenancy_role: string;
}

function callerFields({ role, tenancyRole }: TenantOfMember): CallerFields {
  return { api_functional_role: role, role, tenancy_role: tenancyRole };
}

/** An item of the caller's list of tenants. */
export type TenantItemView = TenantFields & CallerFields;

export function tenantItemView(found: TenantOfMember): TenantItemView {
  return { ...tenantFields(found.tenant), ...callerFields(found) };
}

export function tenantOfMemberView(found: TenantOfMember): TenantView & CallerFields {
  return { ...tenantView(found.tenant), ...callerFields(found) };
}

/** Specification, "Tenants, members, principals": the answer of `/usage`. */
export interface UsageView {
  tenant_id: string;
  window: { from: string; to: string };
  usage: { date: string; snapshot_writes: number }[];
}

export function usageView(tenantId: string, window: UsageWindow, days: readonly UsageDay[]): UsageView {
  return {
    tenant_id: tenantId,
    window: { from: window.from.toISOString(), to: window.to.toISOString() },
    usage: days.map((day) => ({ date: day.date, snapshot_writes: day.snapshotWrites })),
  };
}

const TEXT: Schema = { type: 'string' };
const TENANT_FIELDS: Record<string, Schema> = {
  tenant_id: TEXT,
  name: TEXT,
  slug: { type: ['string', 'null'] },
  created_at: TIMESTAMP,
  chain_enforced: { type: 'boolean' },
};
const CALLER_FIELDS: Record<string, Schema> = {
  api_functional_role: { type: 'string', enum: ROLES, description: "The caller's." },
  role: { type: 'string', enum: ROLES, deprecated: true, description: 'Alias of api_functional_role.' },
  tenancy_role: { type: 'string', enum: TENANCY_ROLES, description: "The caller's." },
};
const WRAPPED = {
  tenant: { ...object(TENANT_FIELDS), deprecated: true, description: 'The same fields, wrapped.' },
};

export const TENANT = named('Tenant', object({ ...TENANT_FIELDS, ...WRAPPED }));
export const TENANT_ITEM = named('TenantItem', object({ ...TENANT_FIELDS, ...CALLER_FIELDS }));
export const TENANT_OF_MEMBER = named('TenantOfMember', object({ ...TENANT_FIELDS, ...CALLER_FIELDS, ...WRAPPED }));
export const USAGE = named(
  'Usage',
  object({
    tenant_id: TEXT,
    window: object({ from: TIMESTAMP, to: TIMESTAMP }),
    usage: {
      type: 'array',
      items: object({ date: { type: 'string', format: 'date' }, snapshot_writes: { type: 'integer', minimum: 0 } }),
    },
  }),
);

const ACME: TenantRecord = {
  tenantId: 'acme',
  name: 'Acme Corporation',
  slug: 'acme',
  createdAt: new Date('2026-01-15T09:00:00Z'),
  chainEnforced: true,
};
const ACME_OF_ALICE: TenantOfMember = { tenant: ACME, role: 'tenant_owner', tenancyRole: 'account_admin' };

export const TENANT_EXAMPLE = tenantView(ACME);
export const TENANT_ITEM_EXAMPLE = tenantItemView(ACME_OF_ALICE);
export const TENANT_OF_MEMBER_EXAMPLE = tenantOfMemberView(ACME_OF_ALICE);
export const USAGE_EXAMPLE = usageView(
  'acme',
  { from: new Date('2026-01-15T00:00:00Z'), to: new Date('2026-01-16T23:59:59.999Z') },
  [
    { date: '2026-01-15', snapshotWrites: 1 },
    { date: '2026-01-16', snapshotWrites: 0 },
  ],
);
