-- statement: credential_offer_create
-- No row: the tenant has no key that signs. No expiry: the tenant has too many open offers.
WITH cap AS MATERIALIZED (SELECT @cap_of(tenant, open_offers_per_tenant, :tenantId) AS value),
k AS MATERIALIZED (
  SELECT k.tenant_id, k.kid, k.issuer, acting.principal_id
    FROM @acting CROSS JOIN LATERAL (SELECT * FROM issuing_keys k WHERE k.tenant_id = :tenantId::text AND k.replaced_at IS NULL LIMIT 1) k
), made AS (
  INSERT INTO credential_offers (offer_id, tenant_id, grantee_tenant_id, subject_key, snapshot_version, snapshot_id, paths, profile, kid,
                                 expires_in, code_hash, tx_code_hash, created_by, expires_at)
  SELECT :offerId::uuid, k.tenant_id, :granteeTenantId::text, :subjectKey::bigint, :version::int, :snapshotId::uuid, :paths::text[],
         :profile::text, k.kid, :expiresIn::int, :codeHash::bytea, :txCodeHash::bytea, k.principal_id,
         date_trunc('second', statement_timestamp()) + :minutes::int * interval '1 minute'
    FROM k CROSS JOIN cap
   WHERE @count_up_to(cap.value, {FROM issuing_keys s
           CROSS JOIN LATERAL (SELECT * FROM credential_offers o
                                WHERE o.kid = s.kid AND o.taken_at IS NULL AND o.wrong_tx_codes < :most::int
                                  AND coalesce(o.token_expires_at, o.expires_at) > statement_timestamp() OFFSET 0) o
          WHERE (s.tenant_id, s.created_at, s.kid) > (:tenantId, '-infinity', '') AND s.tenant_id <= :tenantId AND s.kid <> ''}) < cap.value
  RETURNING expires_at
)
SELECT k.issuer, cap.value AS cap, made.expires_at AS "expiresAt" FROM k CROSS JOIN cap LEFT JOIN made ON true

-- statement: credential_offer_by_code
-- Locks the offer of a code that can still be used.
SELECT o.offer_id AS "offerId", o.tx_code_hash AS "txCodeHash"
  FROM credential_offers o
 WHERE o.code_hash = :codeHash::bytea AND (o.expires_at > statement_timestamp() AND o.token_hash IS NULL AND o.wrong_tx_codes < :most::int) IS TRUE
   FOR NO KEY UPDATE

-- statement: credential_offer_redeem
UPDATE credential_offers o SET token_hash = :tokenHash::bytea, token_expires_at = statement_timestamp() + :minutes::int * interval '1 minute'
 WHERE o.offer_id = :offerId::uuid

-- statement: credential_offer_miss
UPDATE credential_offers o SET wrong_tx_codes = o.wrong_tx_codes + 1 WHERE o.offer_id = :offerId::uuid

-- statement: credential_offer_by_token
SELECT o.offer_id AS "offerId",
  o.grantee_tenant_id AS "granteeTenantId",
  o.snapshot_id AS "snapshotId",
  o.paths,
  o.profile,
  o.expires_in AS "expiresIn",
  o.created_by AS "createdBy",
  k.issuer
  FROM credential_offers o
  LEFT JOIN LATERAL (SELECT * FROM issuing_keys k WHERE k.kid = o.kid LIMIT 1) k ON true
 WHERE o.token_hash = :tokenHash::bytea AND (o.token_expires_at > statement_timestamp() AND o.taken_at IS NULL) IS TRUE

-- statement: credential_offer_take
UPDATE credential_offers o SET taken_at = statement_timestamp()
 WHERE o.offer_id = :offerId::uuid AND (o.token_expires_at > statement_timestamp() AND o.taken_at IS NULL) IS TRUE
RETURNING o.offer_id AS "offerId"

-- statement: retention_delete_offers
-- Deletes offers that no token can take any more.
WITH deleted AS (
  DELETE FROM credential_offers WHERE offer_id = ANY (ARRAY(
    SELECT o.offer_id FROM credential_offers o WHERE o.expires_at < statement_timestamp() - interval '10 minutes'
     ORDER BY o.expires_at LIMIT :limit FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted
