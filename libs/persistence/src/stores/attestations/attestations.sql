-- fragment: trusted_columns(group)
-- The columns of the trusted issuer `x`.
x.tenant_id AS "@group.tenantId",
  x.issuer AS "@group.issuer",
  x.vcts AS "@group.vcts",
  x.keys AS "@group.keys",
  x.roots AS "@group.roots",
  x.created_at AS "@group.createdAt",
  x.updated_at AS "@group.updatedAt"

-- fragment: member
(SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i @member_access(i.tenant_id)

-- statement: trusted_issuer_put
WITH cap AS MATERIALIZED (SELECT @cap_of(tenant, trusted_issuers_per_tenant, :tenantId) AS value),
made AS (
  INSERT INTO trusted_issuers AS x (tenant_id, issuer, vcts, keys, roots)
  SELECT :tenantId::text, :issuer::text, :vcts::text[], :keys::jsonb, :roots::text[]
    FROM cap
   WHERE @count_up_to(cap.value, FROM trusted_issuers o WHERE o.tenant_id = :tenantId AND o.issuer <> :issuer) < cap.value
  ON CONFLICT (tenant_id, issuer)
  DO UPDATE SET vcts = excluded.vcts, keys = excluded.keys, roots = excluded.roots, updated_at = excluded.updated_at
  RETURNING *
)
SELECT @trusted_columns(trusted?), cap.value AS cap
  FROM cap LEFT JOIN made x ON true

-- statement: trusted_issuer_find
SELECT @facts,
  @trusted_columns(trusted?)
  FROM @member
  LEFT JOIN LATERAL (SELECT * FROM trusted_issuers x
                      WHERE x.tenant_id = i.tenant_id AND x.issuer = :issuer::text AND f.member_status = 'active' LIMIT 1) x ON true

-- statement: trusted_issuers_of_tenant
SELECT @facts,
  @trusted_columns(item?),
  ARRAY[x.issuer] AS position, x.found
  FROM @member
  LEFT JOIN LATERAL @fitting(x, {SELECT * FROM trusted_issuers x
                      WHERE (x.tenant_id, x.issuer) > (i.tenant_id, :after::text) AND x.tenant_id <= i.tenant_id
                        AND f.member_status = 'active'
                      ORDER BY x.tenant_id, x.issuer LIMIT :rows}, @row_bytes(x), {ORDER BY x.tenant_id, x.issuer}) x ON true
 ORDER BY x.issuer

-- statement: trusted_issuer_remove
DELETE FROM trusted_issuers x USING @acting WHERE x.tenant_id = :tenantId::text AND x.issuer = :issuer::text RETURNING x.issuer

-- fragment: attestation_columns(group)
-- The columns of the attestation `a`, with the list `l` of its status.
a.attestation_id AS "@group.attestationId",
  a.tenant_id AS "@group.tenantId",
  a.issuer AS "@group.issuer",
  a.vct AS "@group.vct",
  encode(a.digest, 'hex') AS "@group.digest",
  a.has_key_binding AS "@group.hasKeyBinding",
  a.added_by AS "@group.addedBy",
  a.verified_at AS "@group.verifiedAt",
  a.expires_at AS "@group.expiresAt",
  a.status AS "@group.status",
  a.status_at AS "@group.statusAt",
  a.status_uri AS "@group.statusUri",
  a.status_idx::float8 AS "@group.statusIdx",
  l.problem AS "@group.statusProblem"

-- fragment: list_of_attestation
-- Joins the status list of the attestation `a` as `l`.
  LEFT JOIN LATERAL (SELECT l.problem FROM attestation_lists l
                      WHERE l.tenant_id = a.tenant_id AND l.issuer = a.issuer AND l.uri = a.status_uri LIMIT 1) l ON true

-- statement: attestation_add
-- The list will be read soon, but not again within ten seconds.
WITH cap AS MATERIALIZED (SELECT @cap_of(tenant, attestations_per_tenant, :tenantId) AS value),
made AS (
  INSERT INTO attestations (attestation_id, tenant_id, issuer, vct, digest, has_key_binding, added_by, expires_at, status,
                            status_uri, status_idx)
  SELECT :attestationId::uuid, :tenantId::text, :issuer::text, :vct::text, decode(:digest, 'hex'), :hasKeyBinding::boolean,
         :principalId::text, :expiresAt::timestamptz, CASE WHEN :statusUri::text IS NULL THEN 'none' ELSE 'pending' END,
         :statusUri, :statusIdx::bigint
    FROM cap
   WHERE @count_up_to(cap.value, {FROM attestations o
           WHERE o.tenant_id = :tenantId AND o.status <> '' AND o.status <> 'revoked' AND coalesce(o.expires_at, 'infinity') > statement_timestamp()}) < cap.value
  RETURNING *
), asked AS (
  INSERT INTO attestation_lists AS o (tenant_id, issuer, uri, due_at)
  SELECT a.tenant_id, a.issuer, a.status_uri, statement_timestamp() FROM made a WHERE a.status_uri IS NOT NULL
  ON CONFLICT (tenant_id, issuer, uri) DO UPDATE
     SET due_at = least(coalesce(o.due_at, 'infinity'), greatest(excluded.due_at, o.asked_at + interval '10 seconds'))
)
SELECT @attestation_columns(attestation?), cap.value AS cap
  FROM cap LEFT JOIN made a ON true
  @list_of_attestation

-- statement: attestation_find
SELECT @facts,
  @attestation_columns(attestation?)
  FROM @member
  LEFT JOIN LATERAL (SELECT * FROM attestations a WHERE a.attestation_id = :attestationId::uuid LIMIT 1) a
    ON a.tenant_id = i.tenant_id AND f.member_status = 'active'
  @list_of_attestation

-- statement: attestations_of_tenant
SELECT @facts,
  @attestation_columns(item?),
  ARRAY[a.verified_at::text, a.attestation_id::text] AS position
  FROM @member
  LEFT JOIN LATERAL (SELECT * FROM attestations a
                      WHERE (a.tenant_id, a.verified_at, a.attestation_id) < (i.tenant_id, :beforeTime::timestamptz, :beforeId::uuid)
                        AND a.tenant_id >= i.tenant_id AND a.status <> '' AND f.member_status = 'active'
                      ORDER BY a.tenant_id DESC, a.verified_at DESC, a.attestation_id DESC LIMIT :rows) a ON true
  @list_of_attestation
 ORDER BY a.verified_at DESC, a.attestation_id DESC
