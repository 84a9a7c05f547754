-- The previous release would show everything by a grant with paths, and at once by one that has not started. So both are revoked.
-- Entries that name paths can then no longer be proved.
UPDATE grants SET revoked_at = now() WHERE revoked_at IS NULL AND (paths IS NOT NULL OR starts_at > now());
ALTER TABLE disclosures DISABLE TRIGGER disclosures_immutable;
DELETE FROM disclosures d WHERE d.disclosure_id > (
  SELECT min(o.disclosure_id) FROM disclosures o
   WHERE (o.disclosed_on, o.subject_key, o.grantee_tenant_id, o.principal_id, o.via, o.from_version, o.to_version)
       = (d.disclosed_on, d.subject_key, d.grantee_tenant_id, d.principal_id, d.via, d.from_version, d.to_version));
ALTER TABLE disclosures ENABLE TRIGGER disclosures_immutable;
ALTER TABLE disclosures
  ADD CONSTRAINT disclosures_pkey PRIMARY KEY (disclosed_on, subject_key, grantee_tenant_id, principal_id, via, from_version, to_version);
DROP INDEX disclosures_once;
ALTER TABLE disclosures DROP COLUMN paths;
ALTER TABLE log_entries DROP COLUMN names_paths;
CREATE OR REPLACE FUNCTION forget_search_terms() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT max(n.snapshot_version) FROM public.snapshots n WHERE n.subject_key = NEW.subject_key) = NEW.snapshot_version THEN
    UPDATE public.subjects SET name = NULL, display_name = NULL WHERE subject_key = NEW.subject_key;
    DELETE FROM public.subject_identifiers WHERE subject_key = NEW.subject_key;
  END IF;
  RETURN NULL;
END $$;
ALTER TABLE subjects DROP COLUMN name_path;
ALTER TABLE subject_identifiers DROP COLUMN path;
DROP TRIGGER grant_changes_completed ON grant_changes;
DROP FUNCTION complete_grant_change;
DROP TRIGGER grants_to_all_widened ON grants;
CREATE TRIGGER grants_to_all_widened BEFORE UPDATE OF scopes, expires_at ON grants
  FOR EACH ROW WHEN (NEW.subject_key = 0) EXECUTE FUNCTION require_confirmed_grant();
CREATE OR REPLACE FUNCTION refuse_grant_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- What a grant gives changes while it is not revoked, and is kept in grant_changes. It is revoked once.
  IF TG_OP = 'UPDATE'
     AND (OLD.grant_id, OLD.grantor_tenant_id, OLD.grantee_tenant_id, OLD.subject_key, OLD.created_at, OLD.granted_by)
         IS NOT DISTINCT FROM
         (NEW.grant_id, NEW.grantor_tenant_id, NEW.grantee_tenant_id, NEW.subject_key, NEW.created_at, NEW.granted_by)
     AND (OLD.revoked_at IS NULL
          OR (OLD.revoked_at, OLD.scopes, OLD.expires_at) IS NOT DISTINCT FROM (NEW.revoked_at, NEW.scopes, NEW.expires_at)) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'grants stay, and are revoked once: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE OR REPLACE FUNCTION grant_audit_records(was jsonb, became jsonb)
RETURNS TABLE (tenant_id text, action text, target jsonb, details jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH happened (action, is_for_grantor, columns) AS (
    SELECT 'grant.created', true, '{scopes,expires_at,purpose}'::text[] WHERE was IS NULL
     UNION ALL
    SELECT 'grant.revoked', true, '{scopes,expires_at,purpose}'
     WHERE was IS NOT NULL AND was ->> 'revoked_at' IS DISTINCT FROM became ->> 'revoked_at'
     UNION ALL
    SELECT 'grant.changed', true, '{scopes,expires_at,purpose}'
     WHERE was IS NOT NULL AND was ->> 'revoked_at' IS NOT DISTINCT FROM became ->> 'revoked_at'
       AND (was -> 'scopes', was -> 'expires_at', was -> 'purpose') IS DISTINCT FROM (became -> 'scopes', became -> 'expires_at', became -> 'purpose')
     UNION ALL
    SELECT 'grant.expired', true, '{}'
     WHERE was IS NOT NULL AND became ->> 'expired_told_for' = became ->> 'expires_at'
       AND was ->> 'expired_told_for' IS DISTINCT FROM became ->> 'expired_told_for'
     UNION ALL
    SELECT 'grant.accepted', false, '{accepted_at}'
     WHERE was IS NOT NULL AND was ->> 'accepted_at' IS NULL AND became ->> 'accepted_at' IS NOT NULL
  ), sides (tenant_id, is_grantor) AS (
    SELECT became ->> 'grantor_tenant_id', true
     UNION ALL
    -- A grant on all subjects that its grantee has not accepted shows nowhere.
    SELECT became ->> 'grantee_tenant_id', false
     WHERE became ->> 'subject_key' <> '0' OR became ->> 'accepted_at' IS NOT NULL
  )
  SELECT side.tenant_id, h.action,
         jsonb_build_object('grant_id', became -> 'grant_id', 'grantor_tenant_id', became -> 'grantor_tenant_id',
                            'grantee_tenant_id', became -> 'grantee_tenant_id',
                            'subject_type', coalesce(s.subject_type, '*'), 'subject_id', coalesce(s.subject_id, '*')),
         d.details
    FROM happened h CROSS JOIN sides side
    LEFT JOIN public.subjects s ON s.subject_key = (became ->> 'subject_key')::bigint
   CROSS JOIN LATERAL (SELECT public.audit_details(was, became, CASE WHEN side.is_grantor THEN h.columns
                                                                     ELSE array_remove(h.columns, 'purpose') END) AS details) d
   -- What a grant is for is its grantor's, and a change of that alone is no change for the grantee.
   WHERE (h.is_for_grantor OR NOT side.is_grantor) AND (side.is_grantor OR h.action <> 'grant.changed' OR d.details <> '{}')
$$;
CREATE OR REPLACE FUNCTION refuse_pending_grant_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.confirmed_at IS NULL AND OLD.cancelled_at IS NULL
     AND (OLD.grant_id, OLD.grantor_tenant_id, OLD.grantee_tenant_id, OLD.scopes, OLD.expires_at, OLD.purpose, OLD.requested_by,
          OLD.created_at, OLD.confirm_by)
         IS NOT DISTINCT FROM
         (NEW.grant_id, NEW.grantor_tenant_id, NEW.grantee_tenant_id, NEW.scopes, NEW.expires_at, NEW.purpose, NEW.requested_by,
          NEW.created_at, NEW.confirm_by) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'pending grants stay as they ended: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE OR REPLACE FUNCTION audit_pending_grant() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
BEGIN
  PERFORM public.write_audit_record(NEW.grantor_tenant_id,
    CASE WHEN TG_OP = 'INSERT' THEN 'grant.requested' WHEN NEW.cancelled_at IS NULL THEN 'grant.confirmed' ELSE 'grant.cancelled' END,
    jsonb_build_object('grant_id', NEW.grant_id, 'grantee_tenant_id', NEW.grantee_tenant_id, 'subject_type', '*', 'subject_id', '*'),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW), '{scopes,expires_at,purpose}'));
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION require_confirmed_grant() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.scopes <@ OLD.scopes
     AND coalesce(NEW.expires_at, 'infinity') <= coalesce(OLD.expires_at, 'infinity') THEN
    RETURN NEW;
  END IF;
  IF public.grant_needs_confirmation(NEW.grant_id, NEW.grantor_tenant_id, NEW.grantee_tenant_id, NEW.scopes, NEW.expires_at) THEN
    RAISE EXCEPTION 'a second human has to confirm a grant on all subjects: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
DROP FUNCTION grant_needs_confirmation(uuid, text, text, text[], timestamptz, text[], timestamptz);
DROP FUNCTION is_grant_narrowed;
ALTER TABLE grants DROP COLUMN paths, DROP COLUMN starts_at, DROP COLUMN started_told_for;
ALTER TABLE grant_changes DROP COLUMN paths, DROP COLUMN starts_at, DROP COLUMN from_paths, DROP COLUMN from_starts_at;
ALTER TABLE pending_grants DROP COLUMN paths, DROP COLUMN starts_at;
DROP FUNCTION paths_hash, paths_within, paths_cover;
