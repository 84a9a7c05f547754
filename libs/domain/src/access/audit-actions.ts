/** Grant actions are recorded in the audit trails of both tenants; `grant.accepted` only in the grantee's. */
const GRANT = ['grant_id', 'grantor_tenant_id', 'grantee_tenant_id', 'subject_type', 'subject_id'] as const;

/** Refresh requests are recorded in the audit trails of the requesting tenant and of the owner. */
const REFRESH_REQUEST = [
  'refresh_request_id',
  'requesting_tenant_id',
  'owner_tenant_id',
  'subject_type',
  'subject_id',
] as const;

/** Actions in a tenant's audit trail, each with the ids that its `target` contains. */
export const AUDIT_ACTIONS = {
  'tenant.founded': [],
  'tenant.changed': [],
  'member.invited': ['principal_id'],
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
  'grant.requested': ['grant_id', 'grantee_tenant_id', 'subject_type', 'subject_id'],
  'grant.confirmed': ['grant_id', 'grantee_tenant_id', 'subject_type', 'subject_id'],
  'grant.cancelled': ['grant_id', 'grantee_tenant_id', 'subject_type', 'subject_id'],
  'grant.created': GRANT,
  'grant.changed': GRANT,
  'grant.revoked': GRANT,
  'grant.started': GRANT,
  'grant.expired': GRANT,
  'grant.accepted': GRANT,
  'erasure.requested': ['erasure_id', 'subject_type', 'subject_id'],
  'erasure.confirmed': ['erasure_id', 'subject_type', 'subject_id'],
  'erasure.done': ['erasure_id', 'subject_type', 'subject_id'],
  'erasure.cancelled': ['erasure_id', 'subject_type', 'subject_id'],
  'refresh_request.created': REFRESH_REQUEST,
  'refresh_request.fulfilled': REFRESH_REQUEST,
  'refresh_request.declined': REFRESH_REQUEST,
  'refresh_request.cancelled': REFRESH_REQUEST,
  'trusted_issuer.added': ['issuer'],
  'trusted_issuer.changed': ['issuer'],
  'trusted_issuer.removed': ['issuer'],
  'attestation.added': ['attestation_id', 'issuer'],
  'issuing_key.created': ['kid'],
  'issuing_key.retired': ['kid'],
  'credential.offered': ['offer_id', 'subject_type', 'subject_id'],
  'credential.issued': ['credential_id', 'subject_type', 'subject_id'],
  'credential.withdrawn': ['credential_id', 'subject_type', 'subject_id'],
  'limit.changed': ['limit_name'],
} as const satisfies Record<string, readonly string[]>;
export type AuditAction = keyof typeof AUDIT_ACTIONS;
