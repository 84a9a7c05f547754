-- fragment: shares_of_lists
-- Walks the parties that take turns and have a list to be read now or later.
shares AS (
  SELECT (SELECT l.share FROM attestation_lists l
           WHERE l.due_at IS NOT NULL AND l.share >= '' ORDER BY l.share, l.due_at LIMIT 1) AS share
   UNION ALL
  SELECT (SELECT l.share FROM attestation_lists l
           WHERE l.due_at IS NOT NULL AND l.share > s.share ORDER BY l.share, l.due_at LIMIT 1)
    FROM shares s WHERE s.share IS NOT NULL
)

-- fragment: list_lease
-- How long a claim of a list lasts.
interval '5 minutes'

-- statement: attestation_lists_claim
-- Claims the next due lists for five minutes, one of each party that is not busy. Keys are null if the tenant no longer
-- trusts the issuer.
WITH RECURSIVE @shares_of_lists, due AS MATERIALIZED (
  SELECT l.list_id
    FROM shares s
   CROSS JOIN LATERAL (SELECT l.list_id, l.due_at FROM attestation_lists l
                        WHERE l.share = s.share AND l.due_at <= statement_timestamp()
                        ORDER BY l.share, l.due_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) l
   WHERE s.share <> ALL (:busy::text[])
   ORDER BY l.due_at LIMIT :limit
), claimed AS (
  UPDATE attestation_lists l
     SET due_at = statement_timestamp() + @list_lease, asked_at = statement_timestamp()
   WHERE l.list_id = ANY (ARRAY(SELECT due.list_id FROM due))
  RETURNING l.*
)
SELECT l.share, l.tenant_id AS "tenantId", l.issuer, l.uri, l.issued_at AS "issuedAt", x.keys AS "trusted?.keys",
       x.roots AS "trusted?.roots"
  FROM claimed l
  LEFT JOIN LATERAL (SELECT * FROM trusted_issuers x WHERE x.tenant_id = l.tenant_id AND x.issuer = l.issuer LIMIT 1) x ON true

-- statement: attestation_lists_lag
-- Returns for how long the oldest due list has waited. Lists of a party that had a turn in the last minute wait for its
-- own other lists, and do not count.
WITH RECURSIVE @shares_of_lists
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(l.due_at)) * 1000, 0)::float8 AS "ageMs"
  FROM shares s
 CROSS JOIN LATERAL (SELECT l.due_at FROM attestation_lists l
                      WHERE l.share = s.share AND l.due_at <= statement_timestamp()
                      ORDER BY l.share, l.due_at LIMIT 1) l
 WHERE (SELECT true FROM attestation_lists l
         WHERE l.share = s.share AND l.asked_at > statement_timestamp() - interval '1 minute' LIMIT 1) IS NULL

-- statement: attestations_of_list
-- A page of the attestations whose status can still change.
SELECT a.attestation_id AS "attestationId", a.status_idx::float8 AS idx
  FROM attestations a
 WHERE (a.tenant_id, a.issuer, a.status_uri, a.attestation_id) > (:tenantId::text, :issuer::text, :uri::text, :after::uuid)
   AND (a.tenant_id, a.issuer, a.status_uri) <= (:tenantId, :issuer, :uri)
   AND a.status_uri IS NOT NULL AND a.status <> 'revoked' AND coalesce(a.expires_at, 'infinity') > statement_timestamp()
 ORDER BY a.tenant_id, a.issuer, a.status_uri, a.attestation_id LIMIT :rows

-- statement: attestations_set_status
-- In the order of `note_attestation_uses`, so that the two cannot deadlock.
WITH named AS MATERIALIZED (
  SELECT a.attestation_id FROM attestations a
   WHERE a.attestation_id = ANY (:inputs.attestationId::uuid[]) AND a.status <> 'revoked'
   ORDER BY a.attestation_id FOR NO KEY UPDATE
)
UPDATE attestations a
   SET status = (:inputs.status::text[])[array_position(:inputs.attestationId::uuid[], a.attestation_id)],
       status_at = statement_timestamp()
 WHERE a.attestation_id = ANY (ARRAY(SELECT named.attestation_id FROM named))

-- fragment: has_grown
-- True if a credential was added to the list since it was claimed. The row itself says so, because the statement does not see
-- an attestation that is committed while it waits for the row.
l.due_at < l.asked_at + @list_lease

-- statement: attestation_list_read
-- Schedules the next read an hour later, if an attestation needs it. If a credential was added meanwhile, the next read
-- is sooner.
UPDATE attestation_lists l
   SET issued_at = :issuedAt::timestamptz, failures = 0, problem = NULL,
       due_at = CASE WHEN @has_grown THEN l.due_at
                     WHEN :isNeeded::boolean THEN statement_timestamp() + interval '1 hour' END
 WHERE l.tenant_id = :tenantId::text AND l.issuer = :issuer::text AND l.uri = :uri::text

-- statement: attestation_list_failed
-- Schedules the next read after one minute, then after two, four …, up to an hour, if an attestation needs it.
UPDATE attestation_lists l
   SET failures = l.failures + 1, problem = :problem::text,
       due_at = CASE WHEN @has_grown
                       OR (SELECT true FROM attestations a
                            WHERE (a.tenant_id, a.issuer, a.status_uri) = (l.tenant_id, l.issuer, l.uri) AND a.status_uri IS NOT NULL
                              AND a.status <> 'revoked' AND coalesce(a.expires_at, 'infinity') > statement_timestamp() LIMIT 1)
                     THEN statement_timestamp() + least(interval '1 hour', interval '1 minute' * power(2, least(l.failures, 10))) END
 WHERE l.tenant_id = :tenantId::text AND l.issuer = :issuer::text AND l.uri = :uri::text

-- statement: evidence_waiting_claim
WITH due AS MATERIALIZED (
  SELECT w.waiting_id FROM evidence_waiting w
   ORDER BY w.waiting_id LIMIT :limit FOR UPDATE SKIP LOCKED
), claimed AS (
  DELETE FROM evidence_waiting w WHERE w.waiting_id = ANY (ARRAY(SELECT due.waiting_id FROM due))
  RETURNING w.*
)
SELECT c.attestation_id AS "attestationId", c.subject_key::float8 AS "subjectKey", c.revoked_at AS "revokedAt",
       a.added_by AS "addedBy", s.subject_type AS "subjectType", s.subject_id AS "subjectId",
       s.owner_tenant_id AS "ownerTenantId", n.snapshot_id AS "snapshotId", n.snapshot_version AS "snapshotVersion", n.envelope
  FROM claimed c
 CROSS JOIN LATERAL (SELECT * FROM attestations a WHERE a.attestation_id = c.attestation_id LIMIT 1) a
 CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = c.subject_key LIMIT 1) s
 CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = c.subject_key ORDER BY n.snapshot_version DESC LIMIT 1) n

-- statement: evidence_refresh_open
INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type, reason_code,
                              requested_paths)
VALUES (:refreshRequestId::uuid, :subjectKey::bigint, :ownerTenantId::text, :addedBy::text, 'owner', 'evidence_revoked', :paths::text[])

-- statement: evidence_followers
-- The tenants that may follow the subject, once for each grant, with its paths.
SELECT g.grantee_tenant_id AS "tenantId", g.paths
  FROM (SELECT :subjectKey::bigint AS subject_key, :ownerTenantId::text AS owner) i
 CROSS JOIN LATERAL (@live_grants_on(i.subject_key, i.owner)) g
 WHERE g.scopes && ARRAY[@scopes(followShared)]
