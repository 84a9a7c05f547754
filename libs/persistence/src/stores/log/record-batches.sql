-- statement: log_records_waiting
-- Reads the first marks of records, up to about :limit records, with the members of their entries. A record that is missing from
-- its table has no tenant.
SELECT w.waiting_id::float8 AS "waitingId",
  coalesce(a.tenant_id, ds.owner_tenant_id) AS "tenantId",
  r.id::float8 AS "recordId",
  w.is_late IS TRUE AS "isLate",
  CASE w.entry_type WHEN 11 THEN @audit_record_json END AS audit,
  CASE w.entry_type WHEN 12 THEN @disclosure_json(d.paths) END AS disclosure
  FROM (SELECT m.*, sum(cardinality(m.record_ids)) OVER (ORDER BY m.waiting_id) - cardinality(m.record_ids) AS before
          FROM (SELECT * FROM records_waiting ORDER BY waiting_id LIMIT :limit) m) w
 CROSS JOIN LATERAL unnest(w.record_ids) AS r(id)
  LEFT JOIN LATERAL (SELECT * FROM audit_records a
                      WHERE w.entry_type = 11 AND (a.tenant_id || '#') = (w.tenant_id || '#') AND a.audit_id = r.id LIMIT 1) a ON true
  LEFT JOIN LATERAL (SELECT * FROM disclosures d WHERE w.entry_type = 12 AND d.disclosure_id = r.id LIMIT 1) d ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects ds WHERE ds.subject_key = d.subject_key LIMIT 1) ds ON true
 WHERE w.before < :limit
 ORDER BY w.waiting_id, r.id

-- statement: log_records_batch
-- Turns marks into batches, whose trigger marks them for the log, in one statement.
WITH taken AS (
  DELETE FROM records_waiting WHERE waiting_id = ANY (:waitingIds::bigint[])
)
INSERT INTO record_batches (entry_type, tenant_id, is_late, record_ids, digests)
SELECT i.entry_type, i.tenant_id, nullif(i.is_late, false), i.record_ids::bigint[], i.digests
  FROM unnest(:batches.entryType::int[], :batches.tenantId::text[], :batches.isLate::boolean[], :batches.recordIds::text[],
              :batches.digests::bytea[])
         WITH ORDINALITY AS i(entry_type, tenant_id, is_late, record_ids, digests, ord)
 ORDER BY i.ord
