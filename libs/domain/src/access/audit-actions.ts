/** What the audit trail of a tenant records, and which of its ids the `target` names. */
export const AUDIT_ACTIONS = {
  'tenant.founded': [],
  'tenant.changed': [],
  'member.added': ['principal_id'],
  'member.changed': ['principal_id'],
  'member.removed': ['principal_id'],
  'webhook_subscription.created': ['subscription_id'],
  'webhook_subscription.changed': ['subscription_id'],
  'webhook_subscription.disabled': ['subscription_id'],
  'webhook_subscription.enabled': ['subscription_id'],
  'webhook_subscription.secret_rotated': ['subscription_id'],
  'webhook_subscription.deleted': ['subscription_id'],
  'transfer_offer.made': ['offer_id', 'from_principal_id', 'to_principal_id'],
  'transfer_offer.accepted': ['offer_id', 'from_principal_id', 'to_principal_id'],
  'transfer_offer.declined': ['offer_id', 'from_principal_id', 'to_principal_id'],
  'transfer_offer.cancelled': ['offer_id', 'from_principal_id', 'to_principal_id'],
  'grant.created': ['grant_id', 'grantee_tenant_id', 'subject_type', 'subject_id'],
  'grant.changed': ['grant_id', 'grantee_tenant_id', 'subject_type', 'subject_id'],
  'grant.revoked': ['grant_id', 'grantee_tenant_id', 'subject_type', 'subject_id'],
  'limit.changed': ['limit_name'],
} as const satisfies Record<string, readonly string[]>;
export type AuditAction = keyof typeof AUDIT_ACTIONS;
