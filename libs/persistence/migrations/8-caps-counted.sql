-- Indexes for the counts of caps, without fulfilled requests, revoked grants and expired rows.

CREATE INDEX refresh_requests_pending
  ON refresh_requests (subject_key, requesting_tenant_id, (coalesce(expires_at, 'infinity'))) WHERE status = 'pending';
CREATE INDEX grants_live_by_subject
  ON grants (subject_key, (coalesce(expires_at, 'infinity'))) WHERE revoked_at IS NULL;
