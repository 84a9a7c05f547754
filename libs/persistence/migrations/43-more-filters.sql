-- Indexes for inboxes of refresh requests by subject, and for overdue requests by their due time. Expressions keep them out
-- of every other search.

CREATE INDEX refresh_requests_incoming_on ON refresh_requests
  ((owner_tenant_id || '/'), subject_key, created_at, refresh_request_id);
CREATE INDEX refresh_requests_outgoing_on ON refresh_requests
  ((outgoing_of || '/'), subject_key, created_at, refresh_request_id);
CREATE INDEX refresh_requests_incoming_overdue ON refresh_requests
  ((owner_tenant_id || '/'), due_at DESC, refresh_request_id DESC) WHERE status = 'pending' AND due_at IS NOT NULL;
CREATE INDEX refresh_requests_outgoing_overdue ON refresh_requests
  ((outgoing_of || '/'), due_at DESC, refresh_request_id DESC) WHERE status = 'pending' AND due_at IS NOT NULL;
