-- Stores the terms of subjects whose latest version is still the one that was read. Later versions brought their own terms.
WITH given AS MATERIALIZED (
  SELECT s.subject_key, s.owner_tenant_id, s.subject_type, g.name, g.display_name, g.name_path
    FROM unnest($1::bigint[], $2::int[], $3::text[], $8::text[], $9::text[]) AS g(subject_key, version, name, display_name, name_path)
   CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = g.subject_key LIMIT 1) s
   WHERE g.version = (SELECT n.snapshot_version FROM snapshots n WHERE n.subject_key = s.subject_key
                       ORDER BY n.snapshot_version DESC LIMIT 1)
), named AS (
  UPDATE subjects s SET name = g.name, display_name = g.display_name, name_path = g.name_path FROM given g
   WHERE s.subject_key = g.subject_key
     AND (s.name, s.display_name, s.name_path) IS DISTINCT FROM (g.name, g.display_name, g.name_path)
), lost AS (
  DELETE FROM subject_identifiers d USING given g
   WHERE d.subject_key = g.subject_key
     AND NOT EXISTS (SELECT FROM unnest($4::bigint[], $5::text[]) AS t(subject_key, scheme)
                      WHERE t.subject_key = d.subject_key AND t.scheme = d.scheme)
), filled AS (
  INSERT INTO subject_identifiers (subject_key, scheme, value, path, owner_tenant_id, subject_type)
  SELECT g.subject_key, t.scheme, t.value, t.path, g.owner_tenant_id, g.subject_type
    FROM unnest($4::bigint[], $5::text[], $6::text[], $10::text[]) AS t(subject_key, scheme, value, path)
    JOIN given g ON g.subject_key = t.subject_key
  ON CONFLICT (subject_key, scheme) DO UPDATE SET value = excluded.value, path = excluded.path
)
UPDATE search_backfill SET after_key = $7
