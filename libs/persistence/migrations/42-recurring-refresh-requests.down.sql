DROP TRIGGER refresh_requests_recur ON refresh_requests;
DROP FUNCTION plan_next_refresh_request, next_recurrence;
DROP INDEX refresh_requests_planned, refresh_requests_next;
ALTER TABLE refresh_requests
  DROP COLUMN series_end_reason,
  DROP COLUMN next_at,
  DROP COLUMN next_request_id,
  DROP COLUMN previous_request_id,
  DROP COLUMN series_id,
  DROP COLUMN every;
