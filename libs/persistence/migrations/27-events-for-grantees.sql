-- Events for the tenants with which a subject is shared. The expiry of a grant is announced once per value. The columns
-- store the announced value, and the indexes have the expiries that are still to be announced, in their order.

ALTER TABLE grants
  ADD COLUMN expiring_told_for timestamptz,
  ADD COLUMN expired_told_for timestamptz;
COMMENT ON COLUMN grants.expiring_told_for IS 'The expires_at that was announced to both parties as near';
COMMENT ON COLUMN grants.expired_told_for IS 'The expires_at that was announced to both parties as passed';
CREATE INDEX grants_expiring ON grants (expires_at) WHERE revoked_at IS NULL AND expiring_told_for IS DISTINCT FROM expires_at;
CREATE INDEX grants_expired ON grants (expires_at) WHERE revoked_at IS NULL AND expired_told_for IS DISTINCT FROM expires_at;

ALTER TABLE deliveries ADD COLUMN skipped_reason text CHECK (skipped_reason IN ('subscription_inactive', 'no_grant'));
