-- The texts of old versions move to object storage (docs/operations/archive.md). Times are passed as texts, which keep their microseconds.

-- statement: archive_enlist
-- Adds the tenants that were never examined.
INSERT INTO archive_progress (tenant_id) SELECT t.tenant_id FROM tenants t WHERE t.tenant_id > '' ORDER BY t.tenant_id ON CONFLICT DO NOTHING

-- statement: archive_is_ready
-- False while a migration still reads the texts of old versions.
SELECT (SELECT true FROM provenance_backfill b WHERE b.is_one LIMIT 1) IS NULL AS "isReady"

-- statement: archive_claim
-- Leases the tenant that is due longest. No other worker archives its versions meanwhile.
UPDATE archive_progress p SET lease = :lease::uuid, next_at = statement_timestamp() + :leaseMs::int * interval '1 millisecond'
 WHERE p.tenant_id = (SELECT q.tenant_id FROM archive_progress q WHERE q.next_at <= statement_timestamp()
                       ORDER BY q.next_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING p.tenant_id AS "tenantId", p.aged_to::text AS "agedTo", p.superseded_to::text AS "supersededTo",
  p.superseded_to < statement_timestamp() - interval '1 day' AS "isOverdue"

-- fragment: archivable(until, back)
-- Examines about `rows` versions of a tenant in the order of their times, and returns the versions whose text can move.
-- These are the versions `back` numbers before the examined ones, if they are old enough and not the latest. `reached`
-- is the place for the next call. It stays a minute behind the clock, because a
-- transaction that runs now has an earlier time.
SELECT least(w.reached, statement_timestamp() - interval '1 minute')::text AS reached, w.reached::text AS "examinedTo", w.is_more AS "isMore",
       n.subject_key AS "candidate?.subjectKey", n.snapshot_version AS "candidate?.snapshotVersion", n.bytes AS "candidate?.bytes"
  FROM (SELECT :tenantId::text AS tenant_id, :from::timestamptz AS from_at, @until AS until_at) i
 CROSS JOIN LATERAL (
   SELECT coalesce(m.created_at, i.until_at) AS reached, m.created_at IS NOT NULL AS is_more
     FROM (VALUES (true)) AS one(is_one)
     LEFT JOIN LATERAL (SELECT v.created_at FROM snapshots v
                         WHERE v.tenant_id = i.tenant_id AND v.created_at > i.from_at AND v.created_at <= i.until_at
                         ORDER BY v.tenant_id, v.created_at OFFSET :rows::int LIMIT 1) m ON true
 ) w
  LEFT JOIN LATERAL (
   SELECT n.subject_key, n.snapshot_version, octet_length(n.envelope) AS bytes
     FROM (SELECT * FROM snapshots v
            WHERE v.tenant_id = i.tenant_id AND v.created_at > i.from_at AND v.created_at <= w.reached
            ORDER BY v.tenant_id, v.created_at OFFSET 0) v
    CROSS JOIN LATERAL (SELECT * FROM snapshots n
                         WHERE n.subject_key = v.subject_key AND n.snapshot_version = v.snapshot_version - @back LIMIT 1) n
    WHERE n.envelope IS NOT NULL AND n.envelope_hash IS NOT NULL
      AND n.created_at <= statement_timestamp() - :days::int * interval '1 day'
      -- A predecessor that was superseded while it was too young is found when it has the age. A day is enough for all transactions.
      AND (@back = 0 OR n.created_at <= v.created_at - greatest(:days::int - 1, 0) * interval '1 day')
      AND (SELECT true FROM snapshots l
            WHERE l.subject_key = n.subject_key AND l.snapshot_version = n.snapshot_version + 1 LIMIT 1) IS TRUE
  ) n ON true

-- statement: archive_aged
@archivable({statement_timestamp() - :days::int * interval '1 day'}, 0)

-- statement: archive_superseded
@archivable({statement_timestamp()}, 1)

-- statement: archive_texts_read
SELECT n.subject_key AS "subjectKey", n.snapshot_version AS "snapshotVersion", n.snapshot_id AS "snapshotId", n.envelope AS text,
       encode(n.envelope_hash, 'hex') AS "envelopeHash", encode(n.prev_hash, 'hex') AS "prevHash", v.view_secret AS secret
  FROM unnest((:versions.subjectKey::text[])::bigint[], :versions.snapshotVersion::int[]) AS i(subject_key, snapshot_version)
 CROSS JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = i.subject_key AND n.snapshot_version = i.snapshot_version
                        AND n.envelope IS NOT NULL AND n.envelope_hash IS NOT NULL LIMIT 1) n
  LEFT JOIN LATERAL (SELECT v.view_secret FROM snapshot_views v
                      WHERE v.subject_key = n.subject_key AND v.snapshot_version = n.snapshot_version LIMIT 1) v ON true

-- statement: archive_pack_add
INSERT INTO archive_packs (object_id, bytes) VALUES (:object::uuid, :bytes::int)

-- statement: archive_texts_move
SELECT archive_texts(:object::uuid, (:texts.subjectKey::text[])::bigint[], :texts.snapshotVersion::int[], :texts.offset::int[], :texts.length::int[],
                     :texts.hash::bytea[]) AS moved

-- statement: archive_advance
-- Ends leases. A tenant whose lease was taken by another worker keeps that worker's progress.
UPDATE archive_progress p
   SET aged_to = (:claims.agedTo::text[])[array_position(:claims.tenantId::text[], p.tenant_id)]::timestamptz,
       superseded_to = (:claims.supersededTo::text[])[array_position(:claims.tenantId::text[], p.tenant_id)]::timestamptz,
       lease = NULL, next_at = statement_timestamp() + :pauseMs::int * interval '1 millisecond'
 WHERE p.tenant_id = ANY (:claims.tenantId::text[]) AND (p.lease = :lease::uuid) IS TRUE

-- statement: archive_packs_drop
-- Marks packs that no version names: those of a crash after a day, and those that are empty after the grace of a restore.
UPDATE archive_packs p SET state = 'dropped', changed_at = statement_timestamp()
 WHERE p.pack_id = ANY (ARRAY(
   SELECT q.pack_id
     FROM (VALUES ('written', :orphanDays::int), ('verified', :emptyDays::int)) AS a(state, days)
    CROSS JOIN LATERAL (SELECT q.pack_id FROM archive_packs q
                         WHERE q.texts = 0 AND q.state = a.state AND q.changed_at < statement_timestamp() - a.days * interval '1 day'
                         ORDER BY q.state, q.changed_at LIMIT :limit::int FOR UPDATE SKIP LOCKED) q)) AND (p.texts = 0) IS TRUE

-- statement: archive_packs_dropped
SELECT p.object_id AS object FROM archive_packs p WHERE p.texts = 0 AND p.state = 'dropped' ORDER BY p.state, p.changed_at LIMIT :limit::int

-- statement: archive_pack_forget
DELETE FROM archive_packs p WHERE p.object_id = :object::uuid AND (p.state = 'dropped') IS TRUE

-- statement: archive_status
-- All packs by state, and the tenant whose versions wait longest for an examination.
SELECT p.state, p.packs::int, p.bytes::float8, p.texts::float8, p.unused::int, p."oldestUnused"
  FROM (SELECT p.state, count(*) AS packs, sum(p.bytes) AS bytes, sum(p.texts) AS texts, count(*) FILTER (WHERE p.texts = 0) AS unused,
               min(p.changed_at) FILTER (WHERE p.texts = 0) AS "oldestUnused"
          FROM archive_packs p WHERE p.pack_id > 0 GROUP BY p.state) p
 ORDER BY p.state

-- statement: archive_packs_page
-- The next packs that versions name, or that a database restored to an earlier time may name.
SELECT p.pack_id AS "packId", p.object_id AS object, p.bytes, p.texts FROM archive_packs p
 WHERE p.pack_id > :afterId::int AND (p.state = 'verified') IS TRUE ORDER BY p.pack_id LIMIT :rows::int

-- statement: archive_page
-- The next versions, with the places of archived texts. The others have none.
SELECT n.subject_key AS "subjectKey", n.snapshot_version AS "snapshotVersion", n.snapshot_id AS "snapshotId", s.subject_type AS "subjectType",
       s.subject_id AS "subjectId", encode(n.envelope_hash, 'hex') AS "envelopeHash", n.text_bytes AS bytes, @archived_place AS place
  FROM (SELECT n.subject_key, n.snapshot_version, n.snapshot_id, n.envelope_hash, n.pack_id, n.pack_offset, n.pack_length, n.text_bytes
          FROM snapshots n WHERE (n.subject_key, n.snapshot_version) > (:afterKey::bigint, :afterVersion::int)
         ORDER BY n.subject_key, n.snapshot_version LIMIT :rows::int) n
 CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = n.subject_key LIMIT 1) s
 ORDER BY n.subject_key, n.snapshot_version

-- statement: archive_restore
SELECT restore_texts((:texts.subjectKey::text[])::bigint[], :texts.snapshotVersion::int[], :texts.text::text[]) AS restored
