DROP INDEX erasures_of_tenant;
DROP TRIGGER erasures_texts_erased ON erasures;
DROP FUNCTION erase_texts;
DROP TRIGGER grant_changes_immutable ON grant_changes;
CREATE TRIGGER grant_changes_immutable BEFORE UPDATE OR DELETE ON grant_changes
  FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
DROP TRIGGER audit_records_immutable ON audit_records;
CREATE TRIGGER audit_records_immutable BEFORE UPDATE OR DELETE ON audit_records
  FOR EACH ROW EXECUTE FUNCTION refuse_record_change();
DROP FUNCTION refuse_change_but_erased_text;
