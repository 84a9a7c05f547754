import type { AccessFacts } from '@iss/domain';
import type { DataSource } from 'typeorm';
import { toDomainError } from '../db-errors';
import { MembershipEntity } from '../entities/membership.entity';
import { TenantEntity } from '../entities/tenant.entity';
import { type Sql, statement } from '../sql';
import { type AccessFactsRow, toAccessFacts } from './access-facts';

export type NewTenant = Pick<TenantEntity, 'tenantId' | 'name' | 'slug' | 'chainEnforced'>;
export type NewMembership = Omit<MembershipEntity, 'createdAt'>;

/** What a change of one member's record is decided by; the rows are locked while it is. */
export interface MembershipChange {
  caller: MembershipEntity | null;
  target: MembershipEntity | null;
  /** Active owners of the tenant, the target included when it is one. */
  activeOwners: number;
}

const MEMBER_FACTS = statement<AccessFactsRow>(
  'member_facts',
  `SELECT api_functional_role AS role, status AS member_status, allow_counterparty_access,
          NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
     FROM memberships WHERE tenant_id = $1 AND principal_id = $2`,
);

const NOBODY: AccessFacts = { membership: null, ownsSubject: false, grantScopes: null };

/** Tenants and their members. */
export class TenancyStore {
  constructor(
    private readonly dataSource: DataSource,
    private readonly sql: Sql,
  ) {}

  /** What the principal may do in the tenant, subjects aside. */
  async facts(tenantId: string, principalId: string): Promise<AccessFacts> {
    const [row] = await this.sql.run(MEMBER_FACTS, [tenantId, principalId]);
    return row === undefined ? NOBODY : toAccessFacts(row);
  }

  /** Stores a tenant with its first member, both or neither. Throws `conflict` when the id or the slug is taken. */
  async create(tenant: NewTenant, founder: Omit<NewMembership, 'tenantId'>): Promise<TenantEntity> {
    try {
      return await this.dataSource.transaction(async (manager) => {
        await manager.insert(TenantEntity, tenant);
        await manager.insert(MembershipEntity, { ...founder, tenantId: tenant.tenantId });
        return manager.findOneByOrFail(TenantEntity, { tenantId: tenant.tenantId });
      });
    } catch (error) {
      throw toDomainError(driverError(error));
    }
  }

  /** Every member's record, removed ones included, oldest first. */
  async members(tenantId: string): Promise<MembershipEntity[]> {
    return this.dataSource
      .getRepository(MembershipEntity)
      .find({ where: { tenantId }, order: { createdAt: 'ASC', principalId: 'ASC' } });
  }

  /**
   * Changes or creates one member's record by the rule `decide`, which sees the caller, the target and the number of
   * owners as they are and stay until the change is stored; what `decide` throws ends the change.
   */
  async changeMembership(
    tenantId: string,
    callerId: string,
    targetId: string,
    decide: (current: MembershipChange) => NewMembership,
  ): Promise<MembershipEntity> {
    try {
      return await this.dataSource.transaction(async (manager) => {
        const members = manager.getRepository(MembershipEntity);
        const locked = await members
          .createQueryBuilder('m')
          .where('m.tenantId = :tenantId', { tenantId })
          .andWhere(`(m.principalId IN (:...ids) OR (m.role = 'tenant_owner' AND m.status = 'active'))`, {
            ids: [callerId, targetId],
          })
          .orderBy('m.principalId')
          .setLock('pessimistic_write')
          .getMany();
        const find = (id: string): MembershipEntity | null =>
          locked.find((member) => member.principalId === id) ?? null;
        const record = decide({
          caller: find(callerId),
          target: find(targetId),
          activeOwners: locked.filter((member) => member.role === 'tenant_owner' && member.status === 'active').length,
        });
        await members.upsert(record, ['tenantId', 'principalId']);
        return members.findOneByOrFail({ tenantId, principalId: targetId });
      });
    } catch (error) {
      throw toDomainError(driverError(error));
    }
  }
}

/** TypeORM wraps the driver's error; the constraint's name is in the original. */
function driverError(error: unknown): unknown {
  return error instanceof Error && 'driverError' in error ? error.driverError : error;
}
