import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An isolated workspace (specification, "Tenant"). */
@Entity({ name: 'tenants' })
export class TenantEntity {
  @PrimaryColumn({ name: 'tenant_id', type: 'text' })
  tenantId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text', nullable: true })
  slug: string | null;

  @Column({ name: 'chain_enforced', type: 'boolean' })
  chainEnforced: boolean;

  @Column({ name: 'created_at', type: 'timestamptz', insert: false, update: false })
  createdAt: Date;
}
