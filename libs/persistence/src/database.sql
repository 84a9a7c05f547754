-- statement: migrations_applied
SELECT name FROM migrations ORDER BY id

-- statement: ping
SELECT clock_timestamp() AS at

-- statement: server
SELECT current_setting('server_version') AS version,
       pg_stat_get_db_numbackends((SELECT oid FROM pg_database WHERE datname = current_database() LIMIT 1)) AS connections,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true)::int, 0) AS most

-- statement: write_ahead_position
SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS position

-- statement: acts_as
SELECT current_user::text AS "actsAs"

-- statement: schema_faults
-- What a role lacks of the expectations that the migrations state.
SELECT
  ARRAY(SELECT e.name FROM unnest(:triggers.name::text[], :triggers.table::text[]) AS e(name, "table")
         WHERE (SELECT t.tgenabled IN ('O', 'A') FROM pg_trigger t
                 WHERE t.tgrelid = to_regclass(e."table") AND t.tgname = e.name LIMIT 1) IS NOT TRUE) AS "missingTriggers",
  ARRAY(SELECT e.name FROM unnest(:policies.name::text[], :policies.table::text[]) AS e(name, "table")
         WHERE (SELECT true FROM pg_policy p
                 WHERE p.polrelid = to_regclass(e."table") AND p.polname = e.name LIMIT 1) IS NULL) AS "missingPolicies",
  ARRAY(SELECT name FROM unnest(:secured::text[]) name
         WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass(name) AND c.relrowsecurity)) AS unsecured,
  ARRAY(SELECT DISTINCT p.privilege || ' ' || p."table"
          FROM unnest(:privileges.privilege::text[], :privileges.table::text[], :privileges.column::text[])
               AS p(privilege, "table", "column")
         WHERE to_regclass(p."table") IS NULL OR NOT CASE
               WHEN p."column" IS NULL THEN has_table_privilege(to_regclass(p."table"), p.privilege)
               ELSE has_column_privilege(to_regclass(p."table"), p."column", p.privilege) END) AS "missingPrivileges"
