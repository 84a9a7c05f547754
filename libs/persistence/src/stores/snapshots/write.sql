-- fragment: asked(has_role)
-- Selects the inputs with the checks of membership, role (by this condition) and `snapshot_id`. Their order prevents deadlocks
-- between two statements. All look-ups are subqueries with a limit, because an early plan for a join or EXISTS would read the
-- whole table.
asked AS MATERIALIZED (
  SELECT i.*,
         (SELECT true FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1) IS NOT NULL AS snapshot_id_taken,
         (SELECT m.status = 'active' AND @has_role FROM memberships m
           WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1) AS is_editor,
         (SELECT t.evidence_policy FROM tenants t WHERE t.tenant_id = i.tenant_id LIMIT 1) AS tenant_policy
    FROM unnest(:inputs.tenantId::text[], :inputs.principalId::text[], :inputs.subjectType::text[],
                :inputs.subjectId::text[], :inputs.snapshotId::uuid[], :inputs.snapshotVersion::int[],
                :inputs.updateId::uuid[], :inputs.evidencePolicy::text[], :inputs.hasMissing::boolean[],
                :inputs.hasCarried::boolean[])
    WITH ORDINALITY AS i(tenant_id, principal_id, subject_type, subject_id, snapshot_id, snapshot_version, update_id, evidence_policy, has_missing, has_carried, ord)
   ORDER BY i.subject_type, i.subject_id
)

-- fragment: may_write
is_editor AND NOT snapshot_id_taken AND tenant_policy = evidence_policy

-- fragment: event_id
@event_id_if_wanted(eventIds, identity.snapshot.created) AS event_id

-- fragment: applied_event_id
-- The id of the event of an applied update.
CASE WHEN i.update_id IS NOT NULL
              THEN @event_id_if_wanted(appliedEventIds, update.applied) END AS applied_event_id

-- fragment: identifiers
-- The identifiers `t` of all input rows, each with the number of its row.
unnest(:identifiers.ord::int[], :identifiers.scheme::text[], :identifiers.value::text[], :identifiers.path::text[])
           AS t(ord, scheme, value, path)

-- fragment: name
-- The name of the input row `i`.
(:names::text[])[i.ord]

-- fragment: display_name
(:displayNames::text[])[i.ord]

-- fragment: name_path
(:namePaths::text[])[i.ord]

-- fragment: new_identifier
new_identifier AS (
  INSERT INTO subject_identifiers (subject_key, scheme, value, path, owner_tenant_id, subject_type)
  SELECT r.subject_key, t.scheme, t.value, t.path, r.tenant_id, r.subject_type
    FROM @identifiers CROSS JOIN LATERAL (SELECT * FROM ready WHERE ord = t.ord LIMIT 1) r
  ON CONFLICT (subject_key, scheme) DO UPDATE SET value = excluded.value, path = excluded.path
   WHERE (subject_identifiers.value, subject_identifiers.path) IS DISTINCT FROM (excluded.value, excluded.path)
),

-- fragment: inserts(more, applied_event_id)
-- Inserts all rows of `ready`, or the statement fails. It also inserts their events if a subscription wants them, which only the
-- statement can know.
-- The reasons against a row are looked up only if it was not written. The few written rows are found by their place in an array,
-- because a join of two such lists would read one of them for each row of the other. Large values come directly from their
-- parameter arrays. If they were unnested, every join and sort would copy them.
new_snapshot AS (
  INSERT INTO snapshots
    (subject_key, snapshot_version, snapshot_id, tenant_id, created_at, written_by, write_request_id, generated_at, change_kind,
     envelope_hash, prev_hash, envelope)
  SELECT subject_key, snapshot_version, snapshot_id, tenant_id, created_at, principal_id, (:inputs.requestId::text[])[ord],
         (:inputs.generatedAt::text[])[ord], (:inputs.changeKind::text[])[ord],
         decode((:inputs.envelopeHash::text[])[ord], 'hex'), decode((:inputs.prevHash::text[])[ord], 'hex'),
         (:inputs.envelope::text[])[ord]
    FROM ready
),
new_event AS (
  @record_in(identity.snapshot.created, snapshot_id, ready, event_id, inputs)
)@more
SELECT @facts,
  f.head_version AS "headVersion", i.snapshot_id_taken AS "snapshotIdTaken", i.tenant_policy AS "evidencePolicy",
       (ARRAY(SELECT created_at FROM ready))[w.place] AS "createdAt",
       (ARRAY(SELECT event_id FROM ready))[w.place] AS "eventId", @applied_event_id AS "appliedEventId"
  FROM asked i
 CROSS JOIN LATERAL (SELECT array_position(ARRAY(SELECT ord FROM ready), i.ord) AS place LIMIT 1) w
  LEFT JOIN LATERAL (
    SELECT f.*, @head_version(s.subject_key) AS head_version
      FROM (SELECT w.place IS NULL AS is_refused) r
      @named_subject
      @tenant_access('{}')
     WHERE r.is_refused LIMIT 1
  ) f ON true
 ORDER BY i.ord

-- fragment: identity
-- The identity of a subject as one value. A type contains no slash.
subject_type || '/' || subject_id

-- fragment: create(more)
-- Creates a subject with its first snapshot, unless another write was first. `more` has the inserts into other tables.
-- They are optional, because each of them adds a quarter to the time of the statement.
WITH @asked(m.api_functional_role IN (@roles(submitFirstState))),
new_subject AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id, name, display_name, name_path)
  SELECT subject_type, subject_id, tenant_id, @name, @display_name, @name_path FROM asked i WHERE @may_write
  ON CONFLICT ON CONSTRAINT subjects_identity_key DO NOTHING
  RETURNING subject_key, @identity AS identity
),
ready AS MATERIALIZED (
  SELECT i.*, (ARRAY(SELECT subject_key FROM new_subject))[s.place] AS subject_key, now() AS created_at, @event_id
    FROM asked i
   CROSS JOIN LATERAL (SELECT array_position(ARRAY(SELECT identity FROM new_subject), @identity) AS place LIMIT 1) s
   WHERE s.place IS NOT NULL
),
@more
@inserts(, NULL::uuid)

-- statement: snapshot_create
-- For inputs without identifiers and without evidence to mend.
@create()

-- statement: snapshot_create_found
@create({
new_evidence AS (
  INSERT INTO subject_evidence (subject_key, owner_tenant_id, subject_type, subject_id, has_missing, has_carried)
  SELECT subject_key, tenant_id, subject_type, subject_id, has_missing, has_carried
    FROM ready
   WHERE has_missing OR has_carried
),
@new_identifier})

-- fragment: may_append
-- The rule for an applied update, or for a direct write.
CASE WHEN i.update_id IS NULL THEN m.api_functional_role IN (@roles(submitLaterState))
              ELSE m.api_functional_role IN (@roles(applyUpdate)) END

-- statement: snapshot_append
-- Appends the owner's next snapshot to the head (version ≥ 2), and marks its proposal as `applied`. The proposal's row lock
-- admits one of many appliers, and the unique (subject, version) admits one of many proposals. IS TRUE restricts the search to
-- the proposal's key, because an early plan would otherwise scan all proposals. Times in a chain never decrease, even if the
-- clock does after a failover. If the base was erased, the subject has no name, and nothing is kept of a comparison with the
-- text of the base.
WITH @asked(@may_append),
admitted AS MATERIALIZED (
  SELECT i.*, s.subject_key, greatest(now(), h.created_at) AS created_at, e.is_base_erased,
         e.is_base_erased OR (s.name, s.display_name, s.name_path) IS DISTINCT FROM (@name, @display_name, @name_path) AS is_renamed
    FROM asked i
   CROSS JOIN LATERAL (
     SELECT s.subject_key, s.owner_tenant_id, s.name, s.display_name, s.name_path
       FROM subjects s
      WHERE s.subject_type = i.subject_type AND s.subject_id = i.subject_id LIMIT 1
   ) s
   CROSS JOIN LATERAL (
     SELECT n.snapshot_version, n.created_at FROM snapshots n WHERE n.subject_key = s.subject_key
      ORDER BY n.snapshot_version DESC LIMIT 1
   ) h
   CROSS JOIN LATERAL (SELECT is_erased_by_now(s.subject_key, h.snapshot_version) AS is_base_erased OFFSET 0) e
   WHERE @may_write AND s.owner_tenant_id = i.tenant_id AND h.snapshot_version = i.snapshot_version - 1
),
applied AS (
  UPDATE updates u SET status = 'applied', applied_at = now(), applied_snapshot_id = a.snapshot_id
    FROM admitted a
   WHERE u.update_id = a.update_id AND (u.status = 'proposed') IS TRUE
  RETURNING u.update_id
),
ready AS MATERIALIZED (
  SELECT i.*, @event_id, @applied_event_id FROM admitted i
   WHERE update_id IS NULL OR update_id = ANY (ARRAY(SELECT update_id FROM applied))
),
renamed AS (
  UPDATE subjects s SET name = @name, display_name = @display_name, name_path = @name_path FROM ready i WHERE i.is_renamed AND s.subject_key = i.subject_key
),
lost_identifier AS (
  DELETE FROM subject_identifiers d
   WHERE d.subject_key = ANY (ARRAY(SELECT subject_key FROM ready))
     AND (SELECT true FROM @identifiers
           CROSS JOIN LATERAL (SELECT subject_key FROM ready WHERE ord = t.ord LIMIT 1) r
           WHERE r.subject_key = d.subject_key AND t.scheme = d.scheme LIMIT 1) IS NULL
),
new_provenance AS (
  INSERT INTO snapshot_provenance (subject_key, snapshot_version, changed_by, origins, changed_paths)
  SELECT i.subject_key, p.snapshot_version, p.changed_by, p.origins, p.changed_paths::json
    FROM ready i
   CROSS JOIN LATERAL (VALUES
     (i.snapshot_version, (:inputs.changedBy::text[])[i.ord], (:inputs.origins::bytea[])[i.ord],
      CASE WHEN (:inputs.isBaseErased::boolean[])[i.ord] OR NOT i.is_base_erased THEN (:inputs.changedPaths::text[])[i.ord] END),
     (1, (:inputs.firstChangedBy::text[])[i.ord], NULL, NULL)
   ) AS p(snapshot_version, changed_by, origins, changed_paths)
   WHERE p.changed_by IS NOT NULL
  ON CONFLICT DO NOTHING
),
changed_evidence AS (
  INSERT INTO subject_evidence AS e (subject_key, owner_tenant_id, subject_type, subject_id, has_missing, has_carried)
  SELECT subject_key, tenant_id, subject_type, subject_id, has_missing, has_carried
    FROM ready
   WHERE has_missing OR has_carried
  ON CONFLICT (subject_key) DO UPDATE SET has_missing = EXCLUDED.has_missing, has_carried = EXCLUDED.has_carried
),
mended_evidence AS (
  DELETE FROM subject_evidence e
   WHERE e.subject_key = ANY (ARRAY(SELECT subject_key FROM ready WHERE NOT has_missing AND NOT has_carried))
),
@new_identifier
@inserts({,
applied_event AS (
  @record_in(update.applied, update_id, ready, applied_event_id, inputs)
)}, (ARRAY(SELECT applied_event_id FROM ready))[w.place])
