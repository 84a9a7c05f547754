-- Runs before the migrations. Creates the roles of the applications, and lets the current user act as them. Roles belong to
-- the cluster, so another database may have created them. A login that acts as iss_app, as in the previous release, may act
-- as the two others if the current user can grant that.

DO $$
DECLARE
  role_name text;
  login name;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['iss_app', 'iss_gateway', 'iss_worker'] LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
      END IF;
    EXCEPTION
      WHEN duplicate_object OR unique_violation THEN NULL;
      WHEN insufficient_privilege THEN
        RAISE EXCEPTION 'The role % is missing, and % may not make it: as a superuser, CREATE ROLE % NOLOGIN; GRANT % TO %, and to the login of the apps',
          role_name, current_user, role_name, role_name, current_user USING ERRCODE = 'insufficient_privilege';
    END;
    BEGIN
      EXECUTE format('GRANT %I TO %I', role_name, current_user);
    EXCEPTION WHEN insufficient_privilege THEN
      IF NOT pg_has_role(current_user, role_name, 'MEMBER') THEN RAISE; END IF;
    END;
  END LOOP;
  FOR login IN
    SELECT m.rolname FROM pg_auth_members a JOIN pg_roles m ON m.oid = a.member
     WHERE a.roleid = 'iss_app'::regrole AND m.rolcanlogin AND m.rolname <> current_user
       AND NOT pg_has_role(m.oid, 'iss_gateway', 'MEMBER') AND NOT pg_has_role(m.oid, 'iss_worker', 'MEMBER')
  LOOP
    BEGIN
      EXECUTE format('GRANT iss_gateway, iss_worker TO %I', login);
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END;
  END LOOP;
END $$;
