-- Repeats erasures after a restore, from the list erasures.csv (docs/erasure.md, "After a restore").
-- Run it with psql as the owner of the tables, in the folder of the list, before you let callers in.
CREATE TEMP TABLE done (public_id uuid, tenant_id text, subject_key bigint, versions int[], reference text, requested_by text, confirmed_by text);
\copy done FROM 'erasures.csv' CSV
UPDATE erasures SET status = 'expired', reason = NULL
 WHERE status = 'pending' AND subject_key IN (SELECT subject_key FROM done) AND public_id NOT IN (SELECT public_id FROM done);
DO $$
DECLARE d record;
BEGIN
  FOR d IN SELECT * FROM done WHERE NOT EXISTS (
    SELECT FROM erasures e WHERE e.public_id = done.public_id AND e.status = 'erased') LOOP
    INSERT INTO erasures (public_id, tenant_id, subject_key, versions, reference, requested_by)
    VALUES (d.public_id, d.tenant_id, d.subject_key, d.versions, d.reference, d.requested_by)
    ON CONFLICT (public_id) DO NOTHING;
    UPDATE erasures SET confirmed_by = coalesce(d.confirmed_by, 'restored'), confirmed_at = least(now(), confirm_by)
     WHERE public_id = d.public_id;
    IF (SELECT erase_versions(erasure_id) FROM erasures WHERE public_id = d.public_id) IS NULL THEN
      RAISE EXCEPTION 'erasure % waits for the log: let the worker run, and do this again', d.public_id;
    END IF;
  END LOOP;
END $$;
