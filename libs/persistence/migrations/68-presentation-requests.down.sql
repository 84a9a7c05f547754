DROP TABLE presentation_requests;
DROP FUNCTION audit_presentation_request, refuse_presentation_request_change;
CREATE OR REPLACE FUNCTION audit_target_id(target jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(target ->> 'grant_id', target ->> 'erasure_id', target ->> 'refresh_request_id', target ->> 'offer_id',
                  target ->> 'subscription_id', target ->> 'credential_id', target ->> 'kid', target ->> 'attestation_id',
                  target ->> 'issuer', target ->> 'principal_id', target ->> 'limit_name');
END $$;
REINDEX INDEX audit_records_of_target;
