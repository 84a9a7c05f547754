-- fragment: moment(milliseconds)
-- Returns SQL for a moment from milliseconds since 1970.
('epoch'::timestamptz + @milliseconds * interval '1 millisecond')

-- fragment: head
LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
                      ORDER BY n.snapshot_version DESC LIMIT 1) h ON true

-- fragment: effective
effective_time(n.generated_at)

-- fragment: first
-- Version 1 of the subject. The index by effective time does not have it.
FROM snapshots n WHERE n.subject_key = r.subject_key AND n.snapshot_version = 1

-- fragment: later
-- The condition of the index that has all other versions.
n.snapshot_version > 1

-- fragment: ending
@moment((i.as_of + 1))

-- fragment: as_of(grantee, reader, found)
-- Finds the version at a moment. It accepts any scope, because the caller checks the rule for the read of the version.
SELECT @facts,
  @disclosed(@grantee),
  h.version AS "headVersion", nullif(v.passed, 0) AS "version", first.at AS "firstAt"
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id, :asOf::bigint AS as_of) i
  @named_subject
  @reader
  @head
  @found

-- fragment: of_tenant
@tenant_reader(ARRAY[@scopes(readLatestAsOf)], @may_read_by({@roles(readLatestAsOf)}, {'read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'}))

-- fragment: of_anyone
@global_reader(ARRAY[@scopes(readLatestAsOf)], @may_read_by({@roles(readLatestAsOf)}, {'read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'}))

-- fragment: recorded
@versions_before(r.subject_key, h.version, @ending, v)
  LEFT JOIN LATERAL (SELECT n.created_at AS at @first AND v.passed = 0 LIMIT 1) first ON true

-- fragment: by_effective_time
-- Ignores the order of the versions. If several have the same time, it returns the highest.
  LEFT JOIN LATERAL (
    SELECT n.snapshot_version AS passed
      FROM ((SELECT n.snapshot_version, @effective AS at FROM snapshots n
              WHERE (n.subject_key, @effective) < (r.subject_key, @ending)
                AND n.subject_key >= r.subject_key AND @later
              ORDER BY n.subject_key DESC, @effective DESC, n.snapshot_version DESC LIMIT 1)
             UNION ALL
            (SELECT n.snapshot_version, @effective @first AND @effective < @ending LIMIT 1)) n
     ORDER BY n.at DESC, n.snapshot_version DESC LIMIT 1
  ) v ON true
  LEFT JOIN LATERAL (
    SELECT min(n.at) AS at
      FROM ((SELECT @effective AS at FROM snapshots n
              WHERE (n.subject_key, @effective) > (r.subject_key, '-infinity')
                AND n.subject_key <= r.subject_key AND @later
              ORDER BY n.subject_key, @effective, n.snapshot_version LIMIT 1)
             UNION ALL
            (SELECT @effective @first LIMIT 1)) n
     WHERE v.passed IS NULL
  ) first ON true

-- statement: version_as_of_recorded_tenant
@as_of(i.tenant_id, @of_tenant, @recorded)

-- statement: version_as_of_recorded_global
@as_of(f.grantee_tenant_id, @of_anyone, @recorded)

-- statement: version_as_of_effective_tenant
@as_of(i.tenant_id, @of_tenant, @by_effective_time)

-- statement: version_as_of_effective_global
@as_of(f.grantee_tenant_id, @of_anyone, @by_effective_time)

-- fragment: since
coalesce(@moment(:from::bigint), '-infinity')

-- fragment: until
coalesce(@moment(:ending::bigint), 'infinity')

-- fragment: recorded_within(reader)
SELECT @facts,
  h.version AS "headVersion", b.passed AS "before", v.passed AS "passed"
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id) i
  @named_subject
  @reader
  @head
  @versions_before(r.subject_key, h.version, @since, b)
  @versions_before(r.subject_key, h.version, @until, v)

-- statement: versions_recorded_within_tenant
@recorded_within(@tenant_read(readLineage))

-- statement: versions_recorded_within_global
@recorded_within(@global_read(readLineage))

-- fragment: place(start)
-- The place after the version `after`, whose own time determines it.
coalesce(last.at, @start), coalesce(:after::int, 0)

-- fragment: effective_within(reader, compare, start, direction)
-- Lists versions by time and then version.
SELECT @facts,
  h.version AS "headVersion", v.snapshot_version AS "version"
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id) i
  @named_subject
  @reader
  @head
  LEFT JOIN LATERAL (SELECT @effective AS at FROM snapshots n
                      WHERE n.subject_key = r.subject_key AND n.snapshot_version = :after::int LIMIT 1) last ON true
  LEFT JOIN LATERAL (
    SELECT n.snapshot_version, n.at
      FROM ((SELECT n.snapshot_version, @effective AS at FROM snapshots n
              WHERE (n.subject_key, @effective, n.snapshot_version) @compare (r.subject_key, @place(@start))
                AND (n.subject_key, @effective) >= (r.subject_key, @since)
                AND (n.subject_key, @effective) < (r.subject_key, @until) AND @later
              ORDER BY n.subject_key @direction, @effective @direction, n.snapshot_version @direction LIMIT :limit)
             UNION ALL
            (SELECT n.snapshot_version, @effective @first
                AND @effective >= @since AND @effective < @until
                AND (@effective, n.snapshot_version) @compare (@place(@start)) LIMIT 1)) n
     ORDER BY n.at @direction, n.snapshot_version @direction LIMIT :limit
  ) v ON true
 ORDER BY v.at @direction, v.snapshot_version @direction

-- statement: versions_effective_within_asc_tenant
@effective_within(@tenant_read(readLineage), >, @since, ASC)

-- statement: versions_effective_within_asc_global
@effective_within(@global_read(readLineage), >, @since, ASC)

-- statement: versions_effective_within_desc_tenant
@effective_within(@tenant_read(readLineage), <, @until, DESC)

-- statement: versions_effective_within_desc_global
@effective_within(@global_read(readLineage), <, @until, DESC)
