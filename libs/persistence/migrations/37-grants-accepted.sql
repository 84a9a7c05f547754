-- A grant on all subjects appears in lists and feeds of its grantee after the grantee used or accepted it
-- (docs/membership.md). Reads need no acceptance. Disclosures name the grant by which a version was read.

ALTER TABLE grants
  ADD COLUMN accepted_at timestamptz,
  ADD COLUMN is_feed_due boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN grants.accepted_at IS 'When the grantee used or accepted it, or null';
COMMENT ON COLUMN grants.is_feed_due IS 'Accepted, and not in granted_feeds yet';

-- Grantees have already seen these grants in their lists.
UPDATE grants SET accepted_at = created_at WHERE (subject_key <> 0) IS FALSE;

-- Replaces grants_to_all_by_grantee, which only the previous release reads.
CREATE INDEX grants_to_all_accepted ON grants (grantee_tenant_id, grantor_tenant_id)
  WHERE revoked_at IS NULL AND accepted_at IS NOT NULL AND +subject_key = 0;
CREATE INDEX grants_feed_due ON grants (grant_id) WHERE is_feed_due;
CREATE INDEX grants_received ON grants ((grantee_tenant_id || '/'), created_at DESC, grant_id DESC)
  WHERE (subject_key <> 0 OR accepted_at IS NOT NULL) IS TRUE;
CREATE INDEX grants_offered ON grants ((grantee_tenant_id || '/'), created_at DESC, grant_id DESC)
  WHERE (subject_key = 0 AND accepted_at IS NULL) IS TRUE;

ALTER TABLE disclosures ADD COLUMN grant_id uuid;
COMMENT ON COLUMN disclosures.grant_id IS 'The grant of the first read that day; null if an earlier release did not store it';

CREATE FUNCTION audit_acceptance() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  subject record;
BEGIN
  SELECT '*' AS subject_type, '*' AS subject_id INTO subject;
  IF NEW.subject_key <> 0 THEN
    SELECT s.subject_type, s.subject_id INTO subject FROM public.subjects s WHERE s.subject_key = NEW.subject_key;
  END IF;
  PERFORM public.write_audit_record(NEW.grantee_tenant_id, 'grant.accepted',
    jsonb_build_object('grant_id', NEW.grant_id, 'grantor_tenant_id', NEW.grantor_tenant_id,
                       'subject_type', subject.subject_type, 'subject_id', subject.subject_id),
    public.audit_details(to_jsonb(OLD), to_jsonb(NEW), '{accepted_at}'));
  RETURN NULL;
END $$;
CREATE TRIGGER grants_accepted_audited AFTER UPDATE ON grants
  FOR EACH ROW WHEN (OLD.accepted_at IS NULL AND NEW.accepted_at IS NOT NULL) EXECUTE FUNCTION audit_acceptance();
