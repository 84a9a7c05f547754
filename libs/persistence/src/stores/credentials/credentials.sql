-- fragment: credential_columns(group)
-- The columns of the credential `c` of the subject `s`, with its version `n` and its list `l`.
c.credential_id AS "@group.credentialId",
  c.tenant_id AS "@group.tenantId",
  s.subject_type AS "@group.subjectType",
  s.subject_id AS "@group.subjectId",
  n.snapshot_id AS "@group.snapshotId",
  c.snapshot_version AS "@group.snapshotVersion",
  c.format AS "@group.format",
  c.paths AS "@group.paths",
  c.profile AS "@group.profile",
  c.offer_id AS "@group.offerId",
  c.has_holder_key AS "@group.hasHolderKey",
  c.kid AS "@group.kid",
  l.issuer AS "@group.issuer",
  l.uri AS "@group.statusUri",
  c.status_idx AS "@group.statusIdx",
  c.issued_by AS "@group.issuedBy",
  c.grantee_tenant_id AS "@group.granteeTenantId",
  c.issued_at AS "@group.issuedAt",
  c.expires_at AS "@group.expiresAt",
  c.status AS "@group.status",
  c.status_at AS "@group.statusAt",
  c.invalid_reason AS "@group.invalidReason"

-- fragment: of_credential
-- Joins what belongs to the credential `c`.
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = c.subject_key LIMIT 1) s ON true
  @snapshot_of_version(c.subject_key, c.snapshot_version, n)
  LEFT JOIN LATERAL (SELECT * FROM status_lists l WHERE l.list_id = c.list_id LIMIT 1) l ON true

-- statement: credential_source
-- The version for a credential, with the secret of its view and the index of its entry in the log.
SELECT @facts,
  @disclosed(i.tenant_id),
  @snapshot_columns(snapshot?, {@stored_text}),
  found.snapshot_version AS version, v.view_secret AS "viewSecret", s.subject_key::float8 AS "subjectKey", s.owner_tenant_id AS "ownerTenantId",
  e.log_index::float8 AS "logIndex"
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :snapshotId::uuid AS snapshot_id) i
  LEFT JOIN LATERAL (SELECT * FROM snapshots found WHERE found.snapshot_id = i.snapshot_id LIMIT 1) found ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = found.subject_key LIMIT 1) s ON true
  @tenant_read(issueCredential)
  @readable
  LEFT JOIN LATERAL (SELECT v.view_secret FROM snapshot_views v
                      WHERE v.subject_key = n.subject_key AND v.snapshot_version = n.snapshot_version LIMIT 1) v ON true
  LEFT JOIN LATERAL (SELECT e.log_index FROM log_entries e
                      WHERE e.entry_type = 1 AND e.subject_key = n.subject_key AND e.snapshot_version = n.snapshot_version LIMIT 1) e ON true

-- statement: credentials_lock
-- Locks the tenant like `lock_tenant`. Until the end of the transaction, no version of the subject is written or erased
-- (migrations/60-credentials.sql).
WITH tenant AS MATERIALIZED (SELECT t.tenant_id @tenant_to_lock)
SELECT pg_advisory_xact_lock(credentials_lock(:subjectKey::bigint)) FROM tenant

-- statement: status_list_open
INSERT INTO status_lists (list_id, tenant_id, issuer, uri, token, signed_at, due_at)
VALUES (:listId::uuid, :tenantId::text, :issuer::text, :uri::text, :token::text, :signedAt::timestamptz, :dueAt::timestamptz)

-- statement: credential_issue
-- Takes the first of some random indexes that is free. The version may have been superseded or erased since it was read. Without a
-- key or a list it issues nothing.
WITH cap AS MATERIALIZED (SELECT @cap_of(tenant, credentials_per_tenant, :tenantId) AS value),
ever AS MATERIALIZED (
  -- At least as many as are live, which take long to count.
  SELECT coalesce(sum(l.used), 0) AS issued FROM status_lists l WHERE l.tenant_id || '/' = :tenantId || '/'
),
version AS MATERIALIZED (
  SELECT v.snapshot_version, v.erasure_id IS NOT NULL AS is_erased, @head_version(v.subject_key) > v.snapshot_version AS is_superseded
    FROM (SELECT * FROM snapshots v WHERE v.subject_key = :subjectKey::bigint AND v.snapshot_version = :version::int LIMIT 1) v
),
k AS MATERIALIZED (
  SELECT * FROM issuing_keys k WHERE k.tenant_id = :tenantId::text AND k.replaced_at IS NULL LIMIT 1
),
list AS MATERIALIZED (
  -- That with the most credentials of those that have room.
  SELECT l.list_id FROM k CROSS JOIN LATERAL (SELECT * FROM status_lists l
                      WHERE (l.tenant_id || '/', l.issuer, l.used) < (k.tenant_id || '/', k.issuer, :mostUsed::int)
                        AND (l.tenant_id || '/', l.issuer) >= (k.tenant_id || '/', k.issuer)
                      ORDER BY l.tenant_id || '/' DESC, l.issuer DESC, l.used DESC LIMIT 1) l
),
room AS MATERIALIZED (
  SELECT list.list_id, t.idx FROM list CROSS JOIN unnest(:indexes::int[]) AS t(idx)
   WHERE (SELECT true FROM credentials o WHERE o.list_id = list.list_id AND o.status_idx = t.idx LIMIT 1) IS NULL LIMIT 1
),
made AS (
  INSERT INTO credentials (credential_id, tenant_id, subject_key, snapshot_version, format, paths, profile, offer_id, has_holder_key, kid,
                           list_id, status_idx, issued_by, grantee_tenant_id, expires_at, status)
  SELECT :credentialId::uuid, :tenantId::text, :subjectKey, v.snapshot_version, :format::text, :paths::text[], :profile::text, :offerId::uuid,
         :hasHolderKey::boolean, k.kid, room.list_id, room.idx, :principalId::text, :granteeTenantId::text, date_trunc('second', statement_timestamp()) + :expiresIn::int * interval '1 second',
         CASE WHEN v.is_superseded THEN 'superseded' ELSE 'valid' END
    FROM cap CROSS JOIN version v CROSS JOIN k CROSS JOIN room CROSS JOIN ever
   WHERE NOT v.is_erased
     AND CASE WHEN ever.issued < cap.value THEN true
              ELSE @count_up_to(cap.value, {FROM credentials o
                     WHERE (o.tenant_id || '/', o.expires_at) > (:tenantId || '/', statement_timestamp()) AND o.tenant_id || '/' <= :tenantId || '/'
                       AND o.status <> 'invalid'}) < cap.value END
  RETURNING *
), counted AS (
  UPDATE status_lists l SET used = l.used + 1, due_at = coalesce(l.due_at, statement_timestamp())
   WHERE l.list_id = (SELECT made.list_id FROM made)
)
SELECT @credential_columns(credential?), cap.value AS cap, v.is_erased AS "isErased", list.list_id IS NOT NULL AS "hasList",
  k.kid AS "key?.kid", k.issuer AS "key?.issuer", k.public_key AS "key?.publicKey", k.sealed AS "key?.sealed"
  FROM cap CROSS JOIN version v
  LEFT JOIN k ON true
  LEFT JOIN list ON true
  LEFT JOIN made c ON true
  @of_credential

-- statement: credential_withdraw
UPDATE credentials c SET status = 'invalid', status_at = statement_timestamp(), invalid_reason = 'withdrawn'
  FROM @acting
 WHERE c.credential_id = :credentialId::uuid AND (c.status <> 'invalid') IS TRUE
RETURNING c.credential_id AS "credentialId"

-- statement: credential_find
SELECT @facts,
  @credential_columns(credential?)
  FROM @member
  LEFT JOIN LATERAL (SELECT * FROM credentials c WHERE c.credential_id = :credentialId::uuid LIMIT 1) c
    ON (c.tenant_id = i.tenant_id OR c.grantee_tenant_id = i.tenant_id) AND f.member_status = 'active'
  @of_credential

-- fragment: credentials_newest(tenant, is_of_tenant)
-- The newest credentials of which this column names the tenant.
(SELECT * FROM credentials c
          WHERE (c.@tenant, c.issued_at, c.credential_id) < (i.tenant_id, :beforeTime::timestamptz, :beforeId::uuid)
            AND c.@tenant >= i.tenant_id AND @is_of_tenant AND f.member_status = 'active'
          ORDER BY c.@tenant DESC, c.issued_at DESC, c.credential_id DESC LIMIT :rows)

-- statement: credentials_of_tenant
-- Those that the tenant signed, and those that it issued by a grant of another tenant.
SELECT @facts,
  @credential_columns(item?),
  ARRAY[c.issued_at::text, c.credential_id::text] AS position, c.found
  FROM @member
  LEFT JOIN LATERAL @fitting(c, {SELECT * FROM (
         @credentials_newest(tenant_id, c.status <> '')
          UNION ALL
         @credentials_newest(grantee_tenant_id, c.grantee_tenant_id IS NOT NULL)) c
       ORDER BY c.issued_at DESC, c.credential_id DESC LIMIT :rows}, @row_bytes(c), {ORDER BY c.issued_at DESC, c.credential_id DESC}) c ON true
  @of_credential
 ORDER BY c.issued_at DESC, c.credential_id DESC
