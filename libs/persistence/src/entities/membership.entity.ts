import type { MemberStatus, PrincipalType, Role, TenancyRole } from '@iss/domain';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One principal's access record in one tenant (specification, "Principal access record"). */
@Entity({ name: 'memberships' })
export class MembershipEntity {
  @PrimaryColumn({ name: 'tenant_id', type: 'text' })
  tenantId: string;

  @PrimaryColumn({ name: 'principal_id', type: 'text' })
  principalId: string;

  @Column({ name: 'tenancy_role', type: 'text' })
  tenancyRole: TenancyRole;

  @Column({ name: 'api_functional_role', type: 'text' })
  role: Role;

  @Column({ name: 'principal_type', type: 'text' })
  principalType: PrincipalType;

  @Column({ name: 'allow_counterparty_access', type: 'boolean' })
  allowCounterpartyAccess: boolean;

  @Column({ type: 'text' })
  status: MemberStatus;

  @Column({ name: 'created_at', type: 'timestamptz', insert: false, update: false })
  createdAt: Date;
}
