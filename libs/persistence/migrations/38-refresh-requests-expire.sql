-- Refresh requests expire and become overdue. Reads decide both by the clock. The worker stores them once, with the events,
-- and the indexes have the rows that it has not stored yet, in their order.
ALTER TABLE refresh_requests
  ADD COLUMN overdue_told_at timestamptz,
  DROP CONSTRAINT refresh_requests_status_check,
  ADD CONSTRAINT refresh_requests_status_check
    CHECK (status IN ('pending', 'fulfilled', 'declined', 'cancelled', 'expired')) NOT VALID,
  DROP CONSTRAINT refresh_requests_closed_check,
  ADD CONSTRAINT refresh_requests_closed_check
    CHECK ((status IN ('declined', 'cancelled', 'expired')) = (closed_at IS NOT NULL)) NOT VALID;
COMMENT ON COLUMN refresh_requests.overdue_told_at IS 'When both sides were notified that due_at had passed';
COMMENT ON COLUMN refresh_requests.closed_at IS 'When it was declined or cancelled, or expired';

CREATE INDEX refresh_requests_due ON refresh_requests (due_at)
  WHERE status = 'pending' AND overdue_told_at IS NULL AND due_at IS NOT NULL;
CREATE INDEX refresh_requests_expiring ON refresh_requests (expires_at)
  WHERE status = 'pending' AND expires_at IS NOT NULL;
