import type { EventType, SubscriptionStatus } from '@iss/domain';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Where a tenant wants its events sent. The secret is sealed with the subscription id as associated data. */
@Entity({ name: 'webhook_subscriptions' })
export class WebhookSubscriptionEntity {
  @PrimaryColumn({ name: 'subscription_id', type: 'uuid' })
  subscriptionId: string;

  @Column({ name: 'tenant_id', type: 'text' })
  tenantId: string;

  @Column({ name: 'target_url', type: 'text' })
  targetUrl: string;

  @Column({ name: 'event_types', type: 'text', array: true })
  eventTypes: EventType[];

  @Column({ type: 'text' })
  status: SubscriptionStatus;

  @Column({ name: 'disabled_reason', type: 'text', nullable: true })
  disabledReason: string | null;

  @Column({ name: 'disabled_at', type: 'timestamptz', nullable: true })
  disabledAt: Date | null;

  @Column({ name: 'secret_sealed', type: 'text', select: false })
  secretSealed: string;

  @Column({ name: 'secret_fingerprint', type: 'text', select: false })
  secretFingerprint: string;

  @Column({ name: 'secret_last_rotated_at', type: 'timestamptz', insert: false })
  secretLastRotatedAt: Date;

  @Column({ name: 'previous_secret_sealed', type: 'text', nullable: true, select: false })
  previousSecretSealed: string | null;

  @Column({ name: 'previous_secret_until', type: 'timestamptz', nullable: true, select: false })
  previousSecretUntil: Date | null;

  @Column({ name: 'failing_since', type: 'timestamptz', nullable: true, select: false })
  failingSince: Date | null;

  @Column({ name: 'created_at', type: 'timestamptz', insert: false, update: false })
  createdAt: Date;

  @Column({ name: 'deleted_at', type: 'timestamptz', nullable: true })
  deletedAt: Date | null;
}
