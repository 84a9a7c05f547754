-- Indexes for filters of lists. Expressions keep them out of every other search
-- (docs/decisions/0013-plans-whatever-statistics-say.md).

CREATE INDEX grants_of_pair ON grants ((grantor_tenant_id || '>' || grantee_tenant_id), created_at, grant_id);
CREATE INDEX grants_issued_on ON grants ((grantor_tenant_id || '>'), subject_key, created_at, grant_id);
CREATE INDEX grants_received_on ON grants (('>' || grantee_tenant_id), subject_key, created_at, grant_id);

CREATE INDEX disclosures_to_principal ON disclosures ((grantee_tenant_id || '/'), principal_id, first_at, disclosure_id);
CREATE INDEX disclosures_to_tenant_of ON disclosures ((grantee_tenant_id || '/'), subject_key, first_at, disclosure_id);

-- Returns the target's own id, which is the first of these that it has.
CREATE FUNCTION audit_target_id(target jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(target ->> 'grant_id', target ->> 'erasure_id', target ->> 'offer_id', target ->> 'subscription_id',
                  target ->> 'principal_id', target ->> 'limit_name');
END $$;
CREATE INDEX audit_records_of_target ON audit_records
  ((tenant_id || '/'), audit_target_id(target), at DESC, audit_id DESC);
CREATE INDEX audit_records_of_subject ON audit_records
  ((tenant_id || '/'), (target ->> 'subject_type'), (target ->> 'subject_id'), at DESC, audit_id DESC)
  WHERE target ->> 'subject_id' IS NOT NULL;
