-- A grant may give a part of each version (`paths`) and start later (`starts_at`). The previous release knows neither. It ignores
-- both, so such grants are created after its last process has stopped (docs/upgrades.md).

-- Returns true if one of these JSON Pointers is `pointer` or a parent of it. Null paths cover everything.
CREATE FUNCTION paths_cover(paths text[], pointer text) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT paths IS NULL OR EXISTS (SELECT FROM unnest(paths) p(path) WHERE p.path = pointer OR starts_with(pointer, p.path || '/'))
$$;
-- Returns true if a grant with the paths `inner_paths` shows nothing that one with `outer_paths` does not.
CREATE FUNCTION paths_within(inner_paths text[], outer_paths text[]) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT outer_paths IS NULL OR (inner_paths IS NOT NULL
         AND NOT EXISTS (SELECT FROM unnest(inner_paths) p(path) WHERE NOT public.paths_cover(outer_paths, p.path)))
$$;
-- Returns the hash of paths, because an index row has no room for them. Null for null.
CREATE FUNCTION paths_hash(paths text[]) RETURNS bytea
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT sha256(convert_to(array_to_json(paths)::text, 'UTF8'))
$$;

ALTER TABLE grants
  ADD COLUMN paths text[],
  ADD COLUMN starts_at timestamptz,
  ADD COLUMN started_told_for timestamptz,
  ADD CONSTRAINT grants_paths CHECK (cardinality(paths) > 0) NOT VALID;
COMMENT ON COLUMN grants.paths IS 'JSON Pointers below /attributes, sorted; null: everything';
COMMENT ON COLUMN grants.starts_at IS 'The grant gives no rights before; null: from its creation on';
COMMENT ON COLUMN grants.started_told_for IS 'The starts_at that was announced to both parties as reached';
CREATE INDEX grants_starting ON grants (starts_at) WHERE revoked_at IS NULL AND started_told_for IS DISTINCT FROM starts_at;

ALTER TABLE grant_changes
  ADD COLUMN paths text[],
  ADD COLUMN starts_at timestamptz,
  ADD COLUMN from_paths text[],
  ADD COLUMN from_starts_at timestamptz,
  ADD CONSTRAINT grant_changes_paths CHECK (cardinality(paths) > 0 AND cardinality(from_paths) > 0) NOT VALID;

-- The previous release changes neither column, and names neither in its changes. Without this trigger its changes would say that
-- the grant shows everything.
CREATE FUNCTION complete_grant_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  SELECT g.paths, g.starts_at, g.paths, g.starts_at INTO NEW.paths, NEW.starts_at, NEW.from_paths, NEW.from_starts_at
    FROM public.grants g WHERE g.grant_id = NEW.grant_id;
  RETURN NEW;
END $$;
CREATE TRIGGER grant_changes_completed BEFORE INSERT ON grant_changes
  FOR EACH ROW WHEN (NEW.paths IS NULL AND NEW.from_paths IS NULL AND NEW.starts_at IS NULL AND NEW.from_starts_at IS NULL)
  EXECUTE FUNCTION complete_grant_change();

CREATE OR REPLACE FUNCTION refuse_grant_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- What a grant gives changes while it is not revoked, and is kept in grant_changes. It is revoked once.
  IF TG_OP = 'UPDATE'
     AND (OLD.grant_id, OLD.grantor_tenant_id, OLD.grantee_tenant_id, OLD.subject_key, OLD.created_at, OLD.granted_by)
         IS NOT DISTINCT FROM
         (NEW.grant_id, NEW.grantor_tenant_id, NEW.grantee_tenant_id, NEW.subject_key, NEW.created_at, NEW.granted_by)
     AND (OLD.revoked_at IS NULL
          OR (OLD.revoked_at, OLD.scopes, OLD.expires_at, OLD.paths, OLD.starts_at)
             IS NOT DISTINCT FROM (NEW.revoked_at, NEW.scopes, NEW.expires_at, NEW.paths, NEW.starts_at)) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'grants stay, and are revoked once: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;

-- Wider paths and an earlier start of a grant on all subjects need a second human too.
ALTER TABLE pending_grants
  ADD COLUMN paths text[],
  ADD COLUMN starts_at timestamptz,
  ADD CONSTRAINT pending_grants_paths CHECK (cardinality(paths) > 0) NOT VALID;

CREATE OR REPLACE FUNCTION refuse_pending_grant_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.confirmed_at IS NULL AND OLD.cancelled_at IS NULL
     AND (OLD.grant_id, OLD.grantor_tenant_id, OLD.grantee_tenant_id, OLD.scopes, OLD.expires_at, OLD.purpose, OLD.requested_by,
          OLD.created_at, OLD.confirm_by, OLD.paths, OLD.starts_at)
         IS NOT DISTINCT FROM
         (NEW.grant_id, NEW.grantor_tenant_id, NEW.grantee_tenant_id, NEW.scopes, NEW.expires_at, NEW.purpose, NEW.requested_by,
          NEW.created_at, NEW.confirm_by, NEW.paths, NEW.starts_at) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'pending grants stay as they ended: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;

-- The previous release calls the function with five arguments, for grants without paths and start.
CREATE FUNCTION grant_needs_confirmation(
  id uuid, grantor text, grantee text, wanted text[], until timestamptz, wanted_paths text[], since timestamptz) RETURNS boolean
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM public.tenants t
                  WHERE t.tenant_id = grantor
                    AND public.setting_in_effect(t.grant_confirmation, t.pending_changes -> 'grant_confirmation') = 'required')
     AND NOT EXISTS (SELECT FROM public.pending_grants p
                      WHERE p.grant_id = id AND p.grantor_tenant_id = grantor AND p.grantee_tenant_id = grantee
                        AND p.confirmed_at IS NOT NULL AND p.scopes @> wanted
                        AND coalesce(until, 'infinity') <= coalesce(p.expires_at, 'infinity')
                        AND public.paths_within(wanted_paths, p.paths)
                        AND coalesce(since, '-infinity') >= coalesce(p.starts_at, '-infinity'))
$$;

-- Returns true if a grant gives nothing after a change that it did not give before.
CREATE FUNCTION is_grant_narrowed(was_scopes text[], scopes text[], was_until timestamptz, until timestamptz,
                                  was_paths text[], paths text[], was_since timestamptz, since timestamptz) RETURNS boolean
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT scopes <@ was_scopes AND coalesce(until, 'infinity') <= coalesce(was_until, 'infinity')
     AND public.paths_within(paths, was_paths)
     AND greatest(since, statement_timestamp()) >= greatest(was_since, statement_timestamp())
$$;

CREATE OR REPLACE FUNCTION require_confirmed_grant() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND public.is_grant_narrowed(OLD.scopes, NEW.scopes, OLD.expires_at, NEW.expires_at,
                                                   OLD.paths, NEW.paths, OLD.starts_at, NEW.starts_at) THEN
    RETURN NEW;
  END IF;
  IF public.grant_needs_confirmation(NEW.grant_id, NEW.grantor_tenant_id, NEW.grantee_tenant_id, NEW.scopes, NEW.expires_at,
                                     NEW.paths, NEW.starts_at) THEN
    RAISE EXCEPTION 'a second human has to confirm a grant on all subjects: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER grants_to_all_widened ON grants;
CREATE TRIGGER grants_to_all_widened BEFORE UPDATE OF scopes, expires_at, paths, starts_at ON grants
  FOR EACH ROW WHEN (NEW.subject_key = 0) EXECUTE FUNCTION require_confirmed_grant();

-- The audit trail has both columns, and the start as it has the end.
CREATE OR REPLACE FUNCTION audit_pending_grant() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
BEGIN
  PERFORM public.write_audit_record(NEW.grantor_tenant_id,
    CASE WHEN TG_OP = 'INSERT' THEN 'grant.requested' WHEN NEW.cancelled_at IS NULL THEN 'grant.confirmed' ELSE 'grant.cancelled' END,
    jsonb_build_object('grant_id', NEW.grant_id, 'grantee_tenant_id', NEW.grantee_tenant_id, 'subject_type', '*', 'subject_id', '*'),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW), '{scopes,paths,starts_at,expires_at,purpose}'));
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION grant_audit_records(was jsonb, became jsonb)
RETURNS TABLE (tenant_id text, action text, target jsonb, details jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH terms (columns) AS (
    SELECT '{scopes,paths,starts_at,expires_at,purpose}'::text[]
  ), happened (action, is_for_grantor, columns) AS (
    SELECT 'grant.created', true, t.columns FROM terms t WHERE was IS NULL
     UNION ALL
    SELECT 'grant.revoked', true, t.columns FROM terms t
     WHERE was IS NOT NULL AND was ->> 'revoked_at' IS DISTINCT FROM became ->> 'revoked_at'
     UNION ALL
    SELECT 'grant.changed', true, t.columns FROM terms t
     WHERE was IS NOT NULL AND was ->> 'revoked_at' IS NOT DISTINCT FROM became ->> 'revoked_at'
       AND public.audit_details(was, became, t.columns) <> '{}'
     UNION ALL
    SELECT 'grant.started', true, '{}'
     WHERE was IS NOT NULL AND became ->> 'started_told_for' = became ->> 'starts_at'
       AND was ->> 'started_told_for' IS DISTINCT FROM became ->> 'started_told_for'
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

-- The places of a name and of an identifier in the latest version, because lists and searches show either only to a grant that
-- covers its place. They are derived again after the migrations. Until then, no grant with paths covers them.
ALTER TABLE subjects ADD COLUMN name_path text;
COMMENT ON COLUMN subjects.name_path IS 'The JSON Pointer of the name in the latest version';
ALTER TABLE subject_identifiers ADD COLUMN path text;
COMMENT ON COLUMN subject_identifiers.path IS 'The JSON Pointer of the identifier in the latest version';
CREATE OR REPLACE FUNCTION forget_search_terms() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT max(n.snapshot_version) FROM public.snapshots n WHERE n.subject_key = NEW.subject_key) = NEW.snapshot_version THEN
    UPDATE public.subjects SET name = NULL, display_name = NULL, name_path = NULL WHERE subject_key = NEW.subject_key;
    DELETE FROM public.subject_identifiers WHERE subject_key = NEW.subject_key;
  END IF;
  RETURN NULL;
END $$;
INSERT INTO search_backfill (after_key) SELECT 0 WHERE EXISTS (SELECT FROM subjects)
  ON CONFLICT (is_one) DO UPDATE SET after_key = 0;

-- A disclosure has the paths by which a version was shown, and another one is stored if they differ. The index replaces the primary
-- key, which `db:migrate` drops after the index is built (55-grants-of-paths.after).
ALTER TABLE disclosures ADD COLUMN paths text[],
  ADD CONSTRAINT disclosures_paths CHECK (cardinality(paths) > 0) NOT VALID;
COMMENT ON COLUMN disclosures.paths IS 'The paths that were shown; null: everything';
CREATE UNIQUE INDEX disclosures_once
  ON disclosures (disclosed_on, subject_key, grantee_tenant_id, principal_id, via, from_version, to_version, paths_hash(paths))
  NULLS NOT DISTINCT;

ALTER TABLE log_entries ADD COLUMN names_paths boolean;
COMMENT ON COLUMN log_entries.names_paths IS 'True if the text of the entry names paths and start of a grant, or paths of disclosures; null for an entry of an earlier release';
