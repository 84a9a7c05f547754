-- An erasure that leaves no content of a subject also erases the free text about it: of refresh requests, of grants and their changes,
-- and the copies in the audit trail (docs/erasure.md).

CREATE FUNCTION refuse_change_but_erased_text() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  erased jsonb := to_jsonb(OLD);
BEGIN
  IF TG_OP = 'UPDATE' AND pg_trigger_depth() > 1 THEN
    erased := CASE TG_TABLE_NAME WHEN 'grant_changes' THEN erased || '{"reason": null}'
                   ELSE jsonb_set(erased, '{details}', (erased -> 'details') - 'purpose') END;
    IF to_jsonb(NEW) = erased THEN RETURN NEW; END IF;
  END IF;
  RAISE EXCEPTION 'records stay as they were written: % of % is refused', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'insufficient_privilege';
END $$;
DROP TRIGGER audit_records_immutable ON audit_records;
CREATE TRIGGER audit_records_immutable BEFORE UPDATE OR DELETE ON audit_records
  FOR EACH ROW EXECUTE FUNCTION refuse_change_but_erased_text();
DROP TRIGGER grant_changes_immutable ON grant_changes;
CREATE TRIGGER grant_changes_immutable BEFORE UPDATE OR DELETE ON grant_changes
  FOR EACH ROW EXECUTE FUNCTION refuse_change_but_erased_text();

CREATE FUNCTION erase_texts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM public.snapshots n
              WHERE n.subject_key = NEW.subject_key AND n.erasure_id IS NULL AND n.snapshot_version <> ALL (NEW.versions)) THEN
    RETURN NULL;
  END IF;
  UPDATE public.refresh_requests r SET message = NULL, decline_reason = NULL
   WHERE r.subject_key = NEW.subject_key AND num_nonnulls(r.message, r.decline_reason) > 0;
  UPDATE public.grants g SET purpose = NULL WHERE g.subject_key = NEW.subject_key AND g.purpose IS NOT NULL;
  UPDATE public.grant_changes h SET reason = NULL WHERE h.subject_key = NEW.subject_key AND h.reason IS NOT NULL;
  -- Last: the change of a grant has a record too.
  UPDATE public.audit_records a SET details = a.details - 'purpose'
    FROM public.subjects s
   WHERE s.subject_key = NEW.subject_key
     AND (a.tenant_id || '/') IN (
       SELECT NEW.tenant_id || '/' UNION SELECT g.grantee_tenant_id || '/' FROM public.grants g WHERE g.subject_key = NEW.subject_key)
     AND a.target ->> 'subject_type' = s.subject_type AND a.target ->> 'subject_id' = s.subject_id AND a.details ? 'purpose';
  RETURN NULL;
END $$;
CREATE TRIGGER erasures_texts_erased AFTER UPDATE ON erasures
  FOR EACH ROW WHEN (NEW.status = 'erased' AND OLD.status <> 'erased') EXECUTE FUNCTION erase_texts();

-- The expression keeps it out of every other search (docs/decisions/0013-plans-whatever-statistics-say.md).
CREATE INDEX erasures_of_tenant ON erasures ((tenant_id || '/'), (-erasure_id));
