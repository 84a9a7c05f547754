DROP TRIGGER refresh_requests_made_audited ON refresh_requests;
DROP TRIGGER refresh_requests_changed_audited ON refresh_requests;
DROP FUNCTION audit_refresh_requests, refresh_request_audit_records;
CREATE OR REPLACE FUNCTION audit_target_id(target jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(target ->> 'grant_id', target ->> 'erasure_id', target ->> 'offer_id', target ->> 'subscription_id',
                  target ->> 'principal_id', target ->> 'limit_name');
END $$;
REINDEX INDEX audit_records_of_target;
DROP INDEX pending_grants_waiting;
DROP INDEX refresh_requests_waiting;
