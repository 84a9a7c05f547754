-- Refresh requests as an inbox: found by the tenant that is asked and by the tenant that asks, and declined or cancelled as
-- well as fulfilled. There are few, because people answer them. Owner and type of a subject never change, so they can be
-- copied here. A trigger writes them, even for gateways of the previous release.
ALTER TABLE refresh_requests
  ADD COLUMN owner_tenant_id text COLLATE "C",
  ADD COLUMN outgoing_of text COLLATE "C",
  ADD COLUMN subject_type text,
  ADD COLUMN due_at timestamptz,
  ADD COLUMN closed_at timestamptz,
  ADD COLUMN decline_reason text,
  DROP CONSTRAINT refresh_requests_status_check,
  ADD CONSTRAINT refresh_requests_status_check
    CHECK (status IN ('pending', 'fulfilled', 'declined', 'cancelled')) NOT VALID,
  ADD CONSTRAINT refresh_requests_closed_check
    CHECK ((status IN ('declined', 'cancelled')) = (closed_at IS NOT NULL)) NOT VALID;
COMMENT ON COLUMN refresh_requests.outgoing_of IS 'A copy of requesting_tenant_id, for the one index that lists by it';
COMMENT ON COLUMN refresh_requests.closed_at IS 'When it was declined or cancelled';

CREATE FUNCTION name_refresh_request_owner() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  NEW.outgoing_of := NEW.requesting_tenant_id;
  SELECT s.owner_tenant_id, s.subject_type INTO NEW.owner_tenant_id, NEW.subject_type
    FROM subjects s WHERE s.subject_key = NEW.subject_key;
  RETURN NEW;
END $$;
CREATE TRIGGER refresh_requests_owner BEFORE INSERT ON refresh_requests
  FOR EACH ROW EXECUTE FUNCTION name_refresh_request_owner();

UPDATE refresh_requests r SET owner_tenant_id = s.owner_tenant_id, subject_type = s.subject_type,
       outgoing_of = r.requesting_tenant_id
  FROM subjects s WHERE s.subject_key = r.subject_key;

CREATE INDEX refresh_requests_incoming
  ON refresh_requests (owner_tenant_id, status, subject_type, created_at, refresh_request_id);
CREATE INDEX refresh_requests_outgoing
  ON refresh_requests (outgoing_of, status, subject_type, created_at, refresh_request_id);
