-- Before the migrations: makes the role that the applications act as, and lets the current user become it. Roles belong to
-- the cluster, so that another database may have made it.

DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'iss_app') THEN
    CREATE ROLE iss_app NOLOGIN;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
DO $$ BEGIN
  EXECUTE format('GRANT iss_app TO %I', current_user);
EXCEPTION WHEN insufficient_privilege THEN
  IF NOT pg_has_role(current_user, 'iss_app', 'MEMBER') THEN RAISE; END IF;
END $$;
