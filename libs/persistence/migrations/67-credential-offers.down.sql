DROP TRIGGER issuing_keys_offers_end ON issuing_keys;
DROP TRIGGER erasures_offers_end ON erasures;
DROP TABLE credential_offers;
DROP FUNCTION end_offers_of_retired, end_offers_of_erased, audit_credential_offer, refuse_offer_change;

CREATE OR REPLACE FUNCTION audit_credential() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  subject public.subjects;
BEGIN
  SELECT * INTO subject FROM public.subjects s WHERE s.subject_key = NEW.subject_key;
  PERFORM public.write_audit_record(NEW.tenant_id, 'credential.' || CASE TG_OP WHEN 'INSERT' THEN 'issued' ELSE 'withdrawn' END,
    jsonb_build_object('credential_id', 'cred_' || NEW.credential_id, 'subject_type', subject.subject_type, 'subject_id', subject.subject_id),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW),
                         '{snapshot_version,format,paths,has_holder_key,kid,grantee_tenant_id,expires_at,status}'));
  RETURN NULL;
END $$;
ALTER TABLE credentials DROP COLUMN profile, DROP COLUMN offer_id;
