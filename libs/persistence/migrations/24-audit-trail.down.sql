-- Deletes the audit trail.
DROP TRIGGER limit_overrides_audited ON limit_overrides;
DROP TRIGGER erasures_moved_audited ON erasures;
DROP TRIGGER erasures_made_audited ON erasures;
DROP TRIGGER grants_changed_audited ON grants;
DROP TRIGGER grants_made_audited ON grants;
DROP TRIGGER transfer_offers_ended_audited ON transfer_offers;
DROP TRIGGER transfer_offers_made_audited ON transfer_offers;
DROP TRIGGER webhook_subscriptions_changed_audited ON webhook_subscriptions;
DROP TRIGGER webhook_subscriptions_made_audited ON webhook_subscriptions;
DROP TRIGGER memberships_changed_audited ON memberships;
DROP TRIGGER memberships_made_audited ON memberships;
DROP TRIGGER tenants_changed_audited ON tenants;
DROP TRIGGER tenants_founded_audited ON tenants;
DROP FUNCTION audit_limit, audit_erasure, audit_grant, audit_transfer_offer, audit_subscription, audit_member, audit_tenant,
  write_audit_record, audit_details;
DROP TABLE audit_records;
