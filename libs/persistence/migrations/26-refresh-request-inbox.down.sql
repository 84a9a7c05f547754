DROP TRIGGER refresh_requests_owner ON refresh_requests;
DROP FUNCTION name_refresh_request_owner;
-- The previous release only knows pending and fulfilled requests, so closed ones are deleted.
DELETE FROM refresh_requests WHERE status IN ('declined', 'cancelled');
ALTER TABLE refresh_requests
  DROP CONSTRAINT refresh_requests_closed_check,
  DROP CONSTRAINT refresh_requests_status_check,
  DROP COLUMN owner_tenant_id,
  DROP COLUMN outgoing_of,
  DROP COLUMN subject_type,
  DROP COLUMN due_at,
  DROP COLUMN closed_at,
  DROP COLUMN decline_reason,
  ADD CONSTRAINT refresh_requests_status_check CHECK (status IN ('pending', 'fulfilled'));
