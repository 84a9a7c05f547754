DROP INDEX refresh_requests_expiring, refresh_requests_due;
-- The previous release recognizes an expired request by its expires_at alone.
ALTER TABLE refresh_requests
  DROP CONSTRAINT refresh_requests_closed_check,
  DROP CONSTRAINT refresh_requests_status_check;
UPDATE refresh_requests SET status = 'pending', closed_at = NULL WHERE status = 'expired';
ALTER TABLE refresh_requests
  DROP COLUMN overdue_told_at,
  ADD CONSTRAINT refresh_requests_status_check
    CHECK (status IN ('pending', 'fulfilled', 'declined', 'cancelled')) NOT VALID,
  ADD CONSTRAINT refresh_requests_closed_check
    CHECK ((status IN ('declined', 'cancelled')) = (closed_at IS NOT NULL)) NOT VALID;
COMMENT ON COLUMN refresh_requests.closed_at IS 'When it was declined or cancelled';
