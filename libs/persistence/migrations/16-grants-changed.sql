-- Adds changes of grants, and grants on all subjects of their grantor
-- (docs/decisions/0028-grants-changed-and-on-all-subjects.md).

-- A grant on all subjects is a row with subject_key 0. Each index of these grants has its own wording of that condition, or
-- an expression on the grantor, so that only a search with the same words uses it
-- (docs/decisions/0013-plans-whatever-statistics-say.md).
ALTER TABLE grants ADD COLUMN granted_by text COLLATE "C", ADD COLUMN purpose text;
COMMENT ON COLUMN grants.subject_key IS '0 for every subject that the grantor owns, now or later';
COMMENT ON COLUMN grants.scopes IS 'The current scopes, as expires_at is the current expiry; grant_changes has the previous values';
COMMENT ON COLUMN grants.granted_by IS 'The principal that made it; null if an earlier release did not store it';
CREATE INDEX grants_to_all_live ON grants ((grantor_tenant_id || '/'), grantee_tenant_id, (coalesce(expires_at, 'infinity')))
  WHERE revoked_at IS NULL AND (subject_key = 0) IS TRUE;
CREATE INDEX grants_to_all_by_end ON grants (grantor_tenant_id, (coalesce(expires_at, 'infinity')))
  WHERE revoked_at IS NULL AND abs(subject_key) = 0;
CREATE INDEX grants_to_all_by_grantee ON grants (grantee_tenant_id, grantor_tenant_id)
  WHERE revoked_at IS NULL AND -subject_key = 0;
CREATE INDEX grants_to_all_made ON grants (grantor_tenant_id, created_at DESC, grant_id DESC)
  WHERE (subject_key <> 0) IS FALSE;

CREATE TABLE grant_changes (
  grant_change_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  grant_id          uuid NOT NULL,
  grantor_tenant_id text COLLATE "C" NOT NULL,
  subject_key       bigint NOT NULL,
  scopes            text[] NOT NULL CHECK (cardinality(scopes) > 0),
  expires_at        timestamptz,
  from_scopes       text[] NOT NULL CHECK (cardinality(from_scopes) > 0),
  from_expires_at   timestamptz,
  changed_by        text COLLATE "C" NOT NULL,
  changed_at        timestamptz NOT NULL,
  reason            text
);
CREATE INDEX grant_changes_of_grant ON grant_changes (grant_id, (-grant_change_id));
CREATE INDEX grant_changes_of_subject ON grant_changes (subject_key, changed_at DESC);
CREATE INDEX grant_changes_to_all ON grant_changes (grantor_tenant_id, changed_at DESC) WHERE (subject_key = 0) IS TRUE;
COMMENT ON TABLE grant_changes IS 'The new and the previous values of a grant; the log entry of its creation has those before the first change';
COMMENT ON COLUMN grant_changes.subject_key IS 'Copied from the grant, as grantor_tenant_id, so that the changes of a subject are found in order';
CREATE TRIGGER grant_changes_immutable BEFORE UPDATE OR DELETE ON grant_changes
  FOR EACH ROW EXECUTE FUNCTION refuse_log_change();

ALTER TABLE log_entries ADD COLUMN grant_change_id bigint;
ALTER TABLE log_entries ADD CONSTRAINT log_entries_of_changed_grants
  CHECK (entry_type <> 5 OR grant_change_id IS NOT NULL) NOT VALID;
CREATE UNIQUE INDEX log_entries_of_grant_changes ON log_entries (grant_change_id) WHERE grant_change_id IS NOT NULL;
COMMENT ON COLUMN log_entries.entry_type IS
  '1 snapshot.created, 2 grant.created, 3 grant.revoked, 4 tenant.owner_changed, 5 grant.changed, 6 subject.erased';

CREATE FUNCTION mark_grant_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.log_waiting (entry_type, grant_change_id) VALUES (5, NEW.grant_change_id);
  RETURN NULL;
END $$;
CREATE TRIGGER grant_changes_logged AFTER INSERT ON grant_changes FOR EACH ROW EXECUTE FUNCTION mark_grant_change();

-- Last, because every write waits for it.
ALTER TABLE log_waiting ADD COLUMN grant_change_id bigint;
