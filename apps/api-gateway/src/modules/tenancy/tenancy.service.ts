import { DomainError, isAtLeast, type PrincipalType, requireAccess, type Role } from '@iss/domain';
import { type MembershipChange, type MembershipEntity, TenancyStore, type TenantEntity } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { RULES } from '../../access/rules';
import type { Principal } from '../../auth/principal';

export interface TenantToCreate {
  tenantId: string;
  name: string;
  slug: string | null;
  chainEnforced: boolean;
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
   * Gives a principal a role, making it a member if it is none. Throws `forbidden` (not an admin, or a role above the
   * caller's own on either side), `human_principal_required`, or `conflict` (the last owner).
   */
  putMember(caller: Principal, tenantId: string, principalId: string, role: Role): Promise<MembershipEntity> {
    return this.tenancy.changeMembership(tenantId, caller.principalId, principalId, (current) => {
      requireMayAssign(current, role);
      const { target } = current;
      return {
        tenantId,
        principalId,
        role,
        tenancyRole: target?.tenancyRole ?? 'member',
        principalType: target?.principalType ?? 'human',
        allowCounterpartyAccess: target?.status === 'active' && target.allowCounterpartyAccess,
        status: 'active',
      };
    });
  }
}

function requireMayAssign({ caller, target, activeOwners }: MembershipChange, role: Role): void {
  requireAccess({ membership: caller, ownsSubject: false, grantScopes: null }, RULES.manageMembers);
  const held = caller?.role ?? 'tenant_reader';
  const isOwner = target?.status === 'active' && target.role === 'tenant_owner';
  if (!isAtLeast(held, role) || (isOwner && held !== 'tenant_owner')) {
    throw new DomainError(
      'forbidden',
      `You hold ${held}: you can neither assign a role above it nor change an owner's. Ask a tenant_owner.`,
    );
  }
  if (role === 'tenant_owner') requireHuman(caller?.principalType ?? 'human');
  if (isOwner && role !== 'tenant_owner' && activeOwners === 1) {
    throw new DomainError('conflict', 'This is the last tenant_owner. Make another principal owner first.');
  }
}

function requireHuman(principalType: PrincipalType): void {
  if (principalType !== 'human') {
    throw new DomainError(
      'human_principal_required',
      'Only a human principal, with its own token, may assign tenant_owner.',
    );
  }
}
