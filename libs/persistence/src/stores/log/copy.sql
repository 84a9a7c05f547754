-- The copy of the public files of the log in object storage.

-- statement: log_copy_claim
-- Leases the copy to a worker. A copy in another store begins at the first entry.
UPDATE log_copy c
   SET lease = :lease::uuid, leased_until = statement_timestamp() + :leaseMs::int * interval '1 millisecond', url = :url::text,
       copied_to = CASE WHEN c.url = :url::text THEN c.copied_to ELSE 0 END,
       partial_paths = CASE WHEN c.url = :url::text THEN c.partial_paths ELSE '{}' END,
       size = CASE WHEN c.url = :url::text THEN c.size END,
       signed_at = CASE WHEN c.url = :url::text THEN c.signed_at END
 WHERE c.is_one AND (c.lease = :lease::uuid OR c.leased_until <= statement_timestamp()) IS TRUE
RETURNING c.copied_to::float8 AS "copiedTo", c.partial_paths AS "partialPaths", c.size::float8 AS size

-- statement: log_copy_advance
UPDATE log_copy c SET copied_to = :copiedTo::bigint, leased_until = statement_timestamp() + :leaseMs::int * interval '1 millisecond'
 WHERE c.is_one AND (c.lease = :lease::uuid AND c.leased_until > statement_timestamp()) IS TRUE
RETURNING true AS "isLeased"

-- statement: log_copy_note_partials
UPDATE log_copy c SET partial_paths = :partialPaths::text[], leased_until = statement_timestamp() + :leaseMs::int * interval '1 millisecond'
 WHERE c.is_one AND (c.lease = :lease::uuid AND c.leased_until > statement_timestamp()) IS TRUE
RETURNING true AS "isLeased"

-- statement: log_copy_show
UPDATE log_copy c SET size = :size::bigint, signed_at = :signedAt::timestamptz
 WHERE c.is_one AND (c.lease = :lease::uuid) IS TRUE

-- statement: log_copy_release
UPDATE log_copy c SET lease = NULL, leased_until = '-infinity' WHERE c.is_one AND (c.lease = :lease::uuid) IS TRUE

-- statement: log_copy
SELECT c.size::float8 AS size, c.signed_at AS "signedAt" FROM log_copy c WHERE c.is_one
