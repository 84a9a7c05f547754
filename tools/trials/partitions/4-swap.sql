-- In one transaction, the successor gets the name, the triggers, the policies and the privileges. Repeat it after a lock_timeout. Waiting
-- statements continue with the new table. The old table stays until you drop it.

BEGIN;
SET LOCAL lock_timeout = '2s';
LOCK TABLE snapshots IN ACCESS EXCLUSIVE MODE;
DROP TRIGGER snapshots_copied ON snapshots;
DROP TRIGGER snapshots_change_copied ON snapshots;
DROP FUNCTION copy_new_snapshots, copy_changed_snapshot;

ALTER TABLE snapshots RENAME TO snapshots_before;
DROP POLICY snapshots_read ON snapshots_before;
DROP POLICY snapshots_sealed ON snapshots_before;
REVOKE ALL ON snapshots_before FROM iss_app;
ALTER TABLE snapshots_before RENAME CONSTRAINT snapshots_version_key TO snapshots_before_version_key;
ALTER TABLE snapshots_before RENAME CONSTRAINT snapshots_snapshot_id_key TO snapshots_before_snapshot_id_key;
ALTER INDEX snapshots_by_tenant RENAME TO snapshots_before_by_tenant;
ALTER INDEX snapshots_unsealed RENAME TO snapshots_before_unsealed;
ALTER INDEX snapshots_by_effective_time RENAME TO snapshots_before_by_effective_time;

ALTER TABLE snapshots_next RENAME TO snapshots;
ALTER TABLE snapshots RENAME CONSTRAINT snapshots_next_version_key TO snapshots_version_key;
ALTER TABLE snapshot_ids RENAME CONSTRAINT snapshot_ids_next_key TO snapshots_snapshot_id_key;
ALTER INDEX snapshots_next_by_tenant RENAME TO snapshots_by_tenant;
ALTER INDEX snapshots_next_unsealed RENAME TO snapshots_unsealed;
ALTER INDEX snapshots_next_by_effective_time RENAME TO snapshots_by_effective_time;
ALTER INDEX snapshots_next_by_id RENAME TO snapshots_by_id;

CREATE TRIGGER snapshots_immutable BEFORE UPDATE OR DELETE ON snapshots
  FOR EACH ROW EXECUTE FUNCTION refuse_snapshot_change();
CREATE TRIGGER snapshots_not_truncated BEFORE TRUNCATE ON snapshots
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_snapshot_change();
CREATE TRIGGER snapshots_logged AFTER INSERT ON snapshots REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_new_snapshots();
CREATE TRIGGER snapshots_sealed_logged AFTER UPDATE ON snapshots REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_sealed_snapshots();
CREATE TRIGGER snapshots_erased_unfound AFTER UPDATE ON snapshots
  FOR EACH ROW WHEN (OLD.erasure_id IS NULL AND NEW.erasure_id IS NOT NULL) EXECUTE FUNCTION forget_search_terms();
-- Each partition is a table. Only the owner has rights to it, and TRUNCATE is refused.
DO $$ BEGIN
  FOR part IN 0..15 LOOP
    EXECUTE format('CREATE TRIGGER snapshots_not_truncated BEFORE TRUNCATE ON snapshots_p%s
                      FOR EACH STATEMENT EXECUTE FUNCTION refuse_snapshot_change()', part);
  END LOOP;
END $$;
ALTER TABLE snapshots ENABLE ROW LEVEL SECURITY;
CREATE POLICY snapshots_read ON snapshots FOR SELECT TO iss_app USING (true);
CREATE POLICY snapshots_sealed ON snapshots FOR INSERT TO iss_app
  WITH CHECK (envelope_hash = sha256(convert_to(envelope, 'UTF8')));
GRANT SELECT, INSERT ON snapshots TO iss_app;
GRANT SELECT ON snapshot_ids TO iss_app;
COMMIT;
