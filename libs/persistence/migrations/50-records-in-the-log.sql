-- Audit records and disclosures become entries of the log (docs/log.md). A trigger marks them in their own transaction, with one
-- row per statement and 256 records. The worker makes batches of marked records. A batch is a fact with an entry.

CREATE TABLE records_waiting (
  waiting_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  record_ids bigint[] NOT NULL,
  tenant_id  text COLLATE "C",
  entry_type smallint NOT NULL,
  is_late    boolean
);
COMMENT ON TABLE records_waiting IS 'Audit records and disclosures that are in no batch yet';
COMMENT ON COLUMN records_waiting.tenant_id IS 'The tenant whose numbers record_ids has; null for disclosures, whose numbers are common to all tenants';
COMMENT ON COLUMN records_waiting.is_late IS 'The records are older than this table';

CREATE TABLE record_batches (
  batch_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  batched_at timestamptz NOT NULL DEFAULT now(),
  entry_type smallint NOT NULL CHECK (entry_type IN (11, 12)),
  is_late    boolean,
  tenant_id  text COLLATE "C" NOT NULL,
  record_ids bigint[] NOT NULL CHECK (cardinality(record_ids) BETWEEN 1 AND 256),
  digests    bytea NOT NULL CHECK (octet_length(digests) = 4 * cardinality(record_ids))
);
CREATE INDEX record_batches_of_records ON record_batches (tenant_id, entry_type, (record_ids[cardinality(record_ids)]));
COMMENT ON TABLE record_batches IS 'The records of one entry of the log';
COMMENT ON COLUMN record_batches.entry_type IS '11 audit.recorded, 12 disclosures.recorded';
COMMENT ON COLUMN record_batches.tenant_id IS 'The tenant of the audit records, or the owner of the disclosed subjects';
COMMENT ON COLUMN record_batches.record_ids IS 'audit_id or disclosure_id, ascending';
COMMENT ON COLUMN record_batches.digests IS 'The first 4 bytes of SHA-256 of each record''s text. If the entry does not match, they show which record was changed';

CREATE UNIQUE INDEX disclosures_by_id ON disclosures (disclosure_id);
-- The expression keeps this index away from the lists of a tenant (docs/decisions/0013-plans-whatever-statistics-say.md). `#` sorts
-- before all characters of an id, so the order is that of (tenant_id, audit_id).
CREATE INDEX audit_records_by_id ON audit_records ((tenant_id || '#'), audit_id);

CREATE FUNCTION mark_record_batch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.log_waiting (entry_type, record_batch_id, is_late) VALUES (NEW.entry_type, NEW.batch_id, NEW.is_late);
  RETURN NULL;
END $$;
CREATE TRIGGER record_batches_logged AFTER INSERT ON record_batches FOR EACH ROW EXECUTE FUNCTION mark_record_batch();
CREATE TRIGGER record_batches_immutable BEFORE UPDATE OR DELETE ON record_batches
  FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER record_batches_not_truncated BEFORE TRUNCATE ON record_batches
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER records_waiting_not_truncated BEFORE TRUNCATE ON records_waiting
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();

-- A disclosure that is stored already adds no row, and no mark.
CREATE FUNCTION mark_disclosures() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.records_waiting (entry_type, record_ids)
  SELECT 12, array_agg(r.disclosure_id ORDER BY r.disclosure_id)
    FROM (SELECT n.disclosure_id, (row_number() OVER (ORDER BY n.disclosure_id) - 1) / 256 AS part FROM new_rows n) r
   GROUP BY r.part ORDER BY r.part;
  RETURN NULL;
END $$;
CREATE TRIGGER disclosures_logged AFTER INSERT ON disclosures REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_disclosures();

CREATE FUNCTION mark_audit_records() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.records_waiting (entry_type, tenant_id, record_ids)
  SELECT 11, r.tenant_id, array_agg(r.audit_id ORDER BY r.audit_id)
    FROM (SELECT n.tenant_id, n.audit_id, (row_number() OVER (PARTITION BY n.tenant_id ORDER BY n.audit_id) - 1) / 256 AS part
            FROM new_rows n) r
   GROUP BY r.tenant_id, r.part ORDER BY r.tenant_id, r.part;
  RETURN NULL;
END $$;
CREATE TRIGGER audit_records_logged AFTER INSERT ON audit_records REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_audit_records();

-- Older records are marked in batches after this step (50-records-in-the-log.batch).
CREATE TABLE records_backfill (
  entry_type smallint PRIMARY KEY CHECK (entry_type IN (11, 12)),
  tenant_id  text COLLATE "C" NOT NULL DEFAULT '',
  record_id  bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE records_backfill IS 'The last examined record that is older than its log entries; a row while some lack marks';
INSERT INTO records_backfill (entry_type) SELECT 11 WHERE EXISTS (SELECT FROM audit_records);
INSERT INTO records_backfill (entry_type) SELECT 12 WHERE EXISTS (SELECT FROM disclosures);

-- Writers lock log_waiting last.
ALTER TABLE log_entries ADD COLUMN record_batch_id bigint,
  ADD CONSTRAINT log_entries_of_batch CHECK ((entry_type IN (11, 12)) = (record_batch_id IS NOT NULL)) NOT VALID;
CREATE UNIQUE INDEX log_entries_of_batches ON log_entries (record_batch_id) WHERE record_batch_id IS NOT NULL;
ALTER TABLE log_waiting ADD COLUMN record_batch_id bigint;
