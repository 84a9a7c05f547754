DROP TRIGGER snapshots_use_attestations ON snapshots;
DROP TABLE evidence_waiting, attestation_uses, attestation_lists, attestations, trusted_issuers;
DROP FUNCTION note_attestation_uses, note_revocation, audit_attestation, audit_trusted_issuer, refuse_attestation_change;
CREATE OR REPLACE FUNCTION audit_target_id(target jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(target ->> 'grant_id', target ->> 'erasure_id', target ->> 'refresh_request_id', target ->> 'offer_id',
                  target ->> 'subscription_id', target ->> 'principal_id', target ->> 'limit_name');
END $$;
REINDEX INDEX audit_records_of_target;
