-- Refresh requests that recur. A series begins with its first request, and each later one links to the previous one. When a
-- request is fulfilled, is declined or expires, a trigger plans the next one, even for gateways of the previous release. The
-- worker opens it.
ALTER TABLE refresh_requests
  ADD COLUMN every text,
  ADD COLUMN series_id uuid,
  ADD COLUMN previous_request_id uuid,
  ADD COLUMN next_request_id uuid,
  ADD COLUMN next_at timestamptz,
  ADD COLUMN series_end_reason text CHECK (series_end_reason IN ('cancelled', 'access_lost'));
COMMENT ON COLUMN refresh_requests.every IS 'An ISO 8601 duration; null if the request does not recur';
COMMENT ON COLUMN refresh_requests.series_id IS 'The first request of the series';
COMMENT ON COLUMN refresh_requests.next_at IS 'When the worker opens the next request; null if none is planned';

CREATE INDEX refresh_requests_next ON refresh_requests (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX refresh_requests_planned ON refresh_requests (subject_key, requesting_tenant_id) WHERE next_at IS NOT NULL;

-- Returns the first moment after `after` in the series that began at `began`. It counts from the beginning, in UTC, so a
-- series from 31 January continues on 28 February and on 31 March.
CREATE FUNCTION next_recurrence(began timestamptz, every text, after timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT moment
    FROM generate_series(1, 2 + greatest(0, extract(epoch FROM after - began) / 86400)::int) AS count
   CROSS JOIN LATERAL (SELECT (began AT TIME ZONE 'UTC' + count * every::interval) AT TIME ZONE 'UTC') AS one (moment)
   WHERE moment > after ORDER BY count LIMIT 1
$$;

CREATE FUNCTION plan_next_refresh_request() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF NEW.status = 'cancelled' THEN
    NEW.series_end_reason := 'cancelled';
  ELSE
    NEW.next_at := next_recurrence(
      (SELECT r.created_at FROM refresh_requests r WHERE r.refresh_request_id = NEW.series_id),
      NEW.every, coalesce(NEW.resolved_at, NEW.closed_at));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER refresh_requests_recur BEFORE UPDATE ON refresh_requests
  FOR EACH ROW WHEN (OLD.status = 'pending' AND NEW.status <> 'pending' AND NEW.every IS NOT NULL
                     AND NEW.series_end_reason IS NULL)
  EXECUTE FUNCTION plan_next_refresh_request();
