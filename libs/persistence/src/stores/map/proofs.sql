-- The facts that the map proves, with the facts that decide who may see the proof.

-- fragment: logged_before(subject_key, version, size)
(SELECT e.log_index FROM log_entries e
                  WHERE e.subject_key = @subject_key AND e.snapshot_version = @version AND e.entry_type = 1 LIMIT 1)
                  < @size IS TRUE

-- fragment: version_before(subject_key, newest, size)
-- Joins, as `head`, the newest version among the first `size` entries; 0 if there is none. Usually that is the newest
-- version of all. Otherwise it uses binary search, because versions are logged in their order.
LEFT JOIN LATERAL (
    WITH RECURSIVE search (low, high) AS (
      SELECT CASE WHEN n.is_before THEN @newest ELSE 0 END, CASE WHEN n.is_before THEN @newest ELSE @newest - 1 END
        FROM (SELECT @logged_before(@subject_key, @newest, @size) AS is_before OFFSET 0) n
       UNION ALL
      SELECT CASE WHEN m.is_before THEN m.middle ELSE s.low END, CASE WHEN m.is_before THEN s.high ELSE m.middle - 1 END
        FROM search s
       CROSS JOIN LATERAL (
         SELECT c.middle,
                @logged_before(@subject_key, c.middle, @size) AS is_before
           FROM (SELECT (s.low + s.high + 1) / 2 AS middle OFFSET 0) c OFFSET 0) m
       WHERE s.low < s.high
    )
    SELECT low AS version FROM search WHERE low = high
  ) head ON true

-- statement: map_latest
-- Reads the newest version of a subject among the first `size` entries, and its entry. If the caller already knows the salt of that, it
-- returns no content, because a salt identifies one entry.
SELECT @facts,
  @disclosed(i.tenant_id), newest.snapshot_version AS newest, head.version AS version,
  (placed.salt = i.known_salt) IS TRUE AS "isKnown",
  @of_erasure(public_id) AS "erasure?.erasureId",
  @of_erasure(erased_at) AS "erasure?.erasedAt",
  k.log_index::float8 AS "entry?.logIndex",
  k.salt AS "entry?.salt",
  @snapshot_fact
  FROM unnest(:inputs.tenantId::text[], :inputs.principalId::text[], :inputs.subjectType::text[], :inputs.subjectId::text[],
              :inputs.size::bigint[], :inputs.knownSalt::bytea[])
    WITH ORDINALITY AS i(tenant_id, principal_id, subject_type, subject_id, size, known_salt, ord)
  @named_subject
  @tenant_read(readLatest)
  @latest_snapshot(r.subject_key, newest)
  @version_before(r.subject_key, newest.snapshot_version, i.size)
  LEFT JOIN LATERAL (SELECT * FROM log_entries e
                      WHERE e.subject_key = r.subject_key AND e.snapshot_version = head.version AND e.entry_type = 1
                      LIMIT 1) placed ON true
  LEFT JOIN LATERAL (SELECT placed.* WHERE (placed.salt = i.known_salt) IS NOT TRUE) k ON true
  @snapshot_of_version(k.subject_key, k.snapshot_version, n)
  @view_of_keys
 ORDER BY i.ord

-- statement: map_facts_of_subject
-- Reads the caller's rights on a subject, and its newest version.
SELECT @facts, @head_version(s.subject_key) AS newest
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id) i
  @named_subject
  @tenant_access('{}')

-- statement: map_facts_of_tenant
-- Reads the caller's rights in a tenant, without a look at any subject.
SELECT @facts
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
  @member_access(i.tenant_id)
