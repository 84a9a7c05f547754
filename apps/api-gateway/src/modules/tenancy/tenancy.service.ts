import { DomainError, isAtLeast, type PrincipalType, requireAccess, type Role, type TenancyRole } from '@iss/domain';
import {
  type MembershipChange,
  type MembershipEntity,
  type NewMembership,
  TenancyStore,
  type TenantEntity,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { RULES } from '../../access/rules';
import type { Principal } from '../../auth/principal';

export interface TenantToCreate {
  tenantId: string;
  name: string;
  slug: string | null;
  chainEnforced: boolean;
}

/** Fields of a principal's record that are to change. */
export interface PrincipalChange {
  role?: Role | undefined;
  tenancyRole?: TenancyRole | undefined;
  principalType?: PrincipalType | undefined;
  allowCounterpartyAccess?: boolean | undefined;
}

/** Tenants, and who belongs to them. */
@Injectable()
export class TenancyService {
  constructor(private readonly tenancy: TenancyStore) {}

  /** Anyone with a token may found a tenant. Only a human becomes its accountable owner. Throws `conflict`. */
  create(founder: Principal, tenant: TenantToCreate): Promise<TenantEntity> {
    return this.tenancy.create(tenant, {
      principalId: founder.principalId,
      role: founder.claimedType === 'human' ? 'tenant_owner' : 'tenant_admin',
      tenancyRole: 'account_admin',
      principalType: founder.claimedType,
      allowCounterpartyAccess: false,
      status: 'active',
    });
  }

  /**
   * Changes a principal's record, making it a member if it is none; what the change leaves out stays. Throws `forbidden`
   * (not an admin, or a role above the caller's own), `human_principal_required`, or `conflict` (the last owner).
   */
  putPrincipal(
    caller: Principal,
    tenantId: string,
    principalId: string,
    change: PrincipalChange,
  ): Promise<MembershipEntity> {
    return this.tenancy.changeMembership(tenantId, caller.principalId, principalId, (current) => {
      const { target } = current;
      const record = {
        tenantId,
        principalId,
        role: change.role ?? target?.role ?? 'tenant_reader',
        tenancyRole: change.tenancyRole ?? target?.tenancyRole ?? 'member',
        principalType: change.principalType ?? target?.principalType ?? 'human',
        allowCounterpartyAccess:
          change.allowCounterpartyAccess ?? (target?.status === 'active' && target.allowCounterpartyAccess),
        status: 'active',
      } as const;
      requireMayChange(current, record);
      return record;
    });
  }

  /** Every record of the tenant, removed members included. */
  async listPrincipals(caller: Principal, tenantId: string): Promise<MembershipEntity[]> {
    requireAccess(await this.tenancy.facts(tenantId, caller.principalId), RULES.readMembers);
    return this.tenancy.members(tenantId);
  }
}

/** Specification, "Human-only actions" and "Authentication" 6; contract, "Members" and "Principal type". */
function requireMayChange({ caller, target, activeOwners }: MembershipChange, record: NewMembership): void {
  requireAccess({ membership: caller, ownsSubject: false, grantScopes: null }, RULES.manageMembers);
  if (caller === null) return;
  const wasOwner = target?.status === 'active' && target.role === 'tenant_owner';
  if (!isAtLeast(caller.role, record.role) || (wasOwner && caller.role !== 'tenant_owner')) {
    throw new DomainError(
      'forbidden',
      `You hold ${caller.role}: you can neither assign a role above it nor change an owner's record. Ask a tenant_owner.`,
    );
  }
  const changesTenancyRole = record.tenancyRole !== (target?.tenancyRole ?? 'member');
  const opensCounterpartyAccess = record.allowCounterpartyAccess && target?.allowCounterpartyAccess !== true;
  if ((changesTenancyRole || opensCounterpartyAccess) && caller.tenancyRole !== 'account_admin') {
    throw new DomainError(
      'forbidden',
      'Only a human account_admin may change tenancy_role or set allow_counterparty_access.',
    );
  }
  const isSelf = caller.principalId === record.principalId;
  if (isSelf && caller.principalType !== 'human' && record.principalType === 'human') {
    throw new DomainError('forbidden', 'Nobody makes itself human. Ask another tenant_admin.');
  }
  const assignsOwner = record.role === 'tenant_owner' && !wasOwner;
  if ((assignsOwner || changesTenancyRole || opensCounterpartyAccess) && caller.principalType !== 'human') {
    throw new DomainError(
      'human_principal_required',
      'Only a human principal, with its own token, may assign tenant_owner or open counterparty access.',
    );
  }
  if (wasOwner && record.role !== 'tenant_owner' && activeOwners === 1) {
    throw new DomainError('conflict', 'This is the last tenant_owner. Make another principal owner first.');
  }
}
