DROP TRIGGER grants_to_all_made ON grants;
DROP TRIGGER grants_to_all_widened ON grants;
DROP FUNCTION require_confirmed_grant, grant_needs_confirmation;
DROP TABLE pending_grants;
DROP FUNCTION audit_pending_grant, refuse_pending_grant_change;
DROP TRIGGER tenants_hold_back_changes ON tenants;
CREATE TRIGGER tenants_hold_back_changes BEFORE UPDATE ON tenants
  FOR EACH ROW EXECUTE FUNCTION hold_back_changes('erasure_confirmation');
UPDATE tenants SET pending_changes = pending_changes - 'grant_confirmation' WHERE pending_changes ? 'grant_confirmation';
ALTER TABLE tenants DROP COLUMN grant_confirmation;
