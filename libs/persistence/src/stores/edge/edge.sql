-- statement: idempotency_begin
-- The statement reads an existing row in its own snapshot. If another request inserted the row meanwhile, the snapshot lacks it
-- and the columns are null, which means that the other request runs.
WITH begun AS (
  INSERT INTO idempotency_keys AS k (key_hash, body_hash)
  SELECT :keyHash::bytea, :bodyHash::bytea WHERE :mayBegin::boolean
  ON CONFLICT (key_hash) DO UPDATE
     SET body_hash = excluded.body_hash, started_at = excluded.started_at, answer = NULL, subject_hash = NULL
   WHERE k.started_at <= now() - interval '24 hours'
      OR (k.answer IS NULL AND k.body_hash = excluded.body_hash AND k.started_at <= now() - interval '1 minute')
  RETURNING k.started_at::text AS claim
)
SELECT begun.claim, k.body_hash = :bodyHash AS "isSameBody", k.answer
  FROM (SELECT :keyHash::bytea AS key_hash) i
  LEFT JOIN begun ON true
  LEFT JOIN idempotency_keys k ON k.key_hash = i.key_hash

-- fragment: claimed
-- True while the request with this claim has not answered. The form of the condition leaves the search to the key alone.
key_hash = :keyHash AND (started_at = :claim::timestamptz AND answer IS NULL) IS TRUE

-- statement: idempotency_keep
-- Keeps nothing about a subject of which versions were erased meanwhile.
UPDATE idempotency_keys SET answer = :answer, subject_hash = sha256(convert_to(:subjectType::text || '/' || :subjectId::text, 'UTF8'))
 WHERE @claimed
   AND (SELECT is_erased_since(s.subject_key, :claim::timestamptz) FROM subjects s
         WHERE s.subject_type = :subjectType AND s.subject_id = :subjectId LIMIT 1) IS NOT TRUE
RETURNING true AS "isKept"

-- statement: idempotency_free
DELETE FROM idempotency_keys WHERE @claimed

-- statement: idempotency_delete_expired
WITH deleted AS (
  DELETE FROM idempotency_keys WHERE key_hash = ANY (ARRAY(
    SELECT key_hash FROM idempotency_keys WHERE started_at <= now() - interval '24 hours'
     ORDER BY started_at LIMIT :limit FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted

-- statement: rate_limit_reserve
-- A process takes a twentieth of the limit at once, so few statements are needed and little is lost if a process does not use its
-- part. `window_start` never decreases, although a statement that waited for the row may have begun in an earlier window. `used`
-- exceeds the limit by at most one reservation, from which that process computes the rest, and by `owed`.
WITH l AS MATERIALIZED (
  SELECT o.value, greatest(1, o.value / 20) AS wanted
    FROM (SELECT coalesce((SELECT o.value FROM limit_overrides o
                            WHERE o.scope = 'principal' AND o.scope_id = :principalId AND o.limit_name = :name LIMIT 1),
                          :limit::int) AS value) o
)
INSERT INTO rate_limits AS r (principal_id, window_start, used)
SELECT :key::text, date_bin(make_interval(secs => :seconds), clock_timestamp(), 'epoch'), l.wanted + :owed::int FROM l
    ON CONFLICT (principal_id) DO UPDATE
   SET window_start = greatest(r.window_start, excluded.window_start),
       used = CASE WHEN r.window_start >= excluded.window_start
                   THEN greatest(r.used, least(r.used, (SELECT value FROM l)) + excluded.used)
                   ELSE excluded.used END
RETURNING r.used, (SELECT wanted FROM l) AS wanted, (SELECT value FROM l) AS limit,
       floor(extract(epoch FROM r.window_start + make_interval(secs => :seconds) - clock_timestamp()) * 1000)::int AS "endsInMs"

