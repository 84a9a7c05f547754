-- Marks the next $1 records that are older than step 50, and moves the place. Returns the number of examined records, and deletes
-- the place after the last one. It is one statement and so one transaction, so the place always matches the marks. Records
-- with a mark or a batch are skipped, because rows and marks are read in one snapshot of the database.

WITH place AS MATERIALIZED (
  SELECT * FROM records_backfill ORDER BY entry_type LIMIT 1 FOR UPDATE
), batch AS MATERIALIZED (
  SELECT place.entry_type, a.tenant_id, a.audit_id AS record_id
    FROM place
   CROSS JOIN LATERAL (SELECT * FROM audit_records a
                        WHERE place.entry_type = 11 AND ((a.tenant_id || '#'), a.audit_id) > ((place.tenant_id || '#'), place.record_id)
                        ORDER BY (a.tenant_id || '#'), a.audit_id LIMIT $1) a
   UNION ALL
  SELECT place.entry_type, '', d.disclosure_id
    FROM place
   CROSS JOIN LATERAL (SELECT * FROM disclosures d
                        WHERE place.entry_type = 12 AND d.disclosure_id > place.record_id
                        ORDER BY d.disclosure_id LIMIT $1) d
), known AS MATERIALIZED (
  SELECT coalesce(w.tenant_id, '') AS tenant_id, unnest(w.record_ids) AS record_id
    FROM place JOIN records_waiting w USING (entry_type)
   WHERE (coalesce(w.tenant_id, ''), w.record_ids[cardinality(w.record_ids)]) > (place.tenant_id, place.record_id)
   UNION ALL
  SELECT CASE b.entry_type WHEN 11 THEN b.tenant_id ELSE '' END, unnest(b.record_ids)
    FROM place JOIN record_batches b USING (entry_type)
   WHERE (CASE b.entry_type WHEN 11 THEN b.tenant_id ELSE '' END, b.record_ids[cardinality(b.record_ids)])
         > (place.tenant_id, place.record_id)
), marked AS (
  INSERT INTO records_waiting (entry_type, tenant_id, record_ids, is_late)
  SELECT r.entry_type, nullif(r.tenant_id, ''), array_agg(r.record_id ORDER BY r.record_id), true
    FROM (SELECT b.*, (row_number() OVER (PARTITION BY b.tenant_id ORDER BY b.record_id) - 1) / 256 AS part
            FROM batch b LEFT JOIN known k ON k.tenant_id = b.tenant_id AND k.record_id = b.record_id
           WHERE k.record_id IS NULL) r
   GROUP BY r.entry_type, r.tenant_id, r.part
   ORDER BY r.tenant_id, r.part
), moved AS (
  UPDATE records_backfill p SET (tenant_id, record_id)
       = (SELECT b.tenant_id, b.record_id FROM batch b ORDER BY b.tenant_id DESC, b.record_id DESC LIMIT 1)
    FROM place WHERE p.entry_type = place.entry_type AND EXISTS (SELECT FROM batch)
), ended AS (
  DELETE FROM records_backfill p USING place WHERE p.entry_type = place.entry_type AND NOT EXISTS (SELECT FROM batch)
)
SELECT (SELECT count(*)::int FROM batch) AS "lookedAt" FROM place
