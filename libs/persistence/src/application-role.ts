/** The database role that the applications act as: it may insert and select snapshots, nothing else there. */
export const APPLICATION_ROLE = 'iss_app';

/** Makes the role and lets the current user become it. Roles belong to the cluster, so that another database may have made it. */
export const ENSURE_ROLE = `
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${APPLICATION_ROLE}') THEN
    CREATE ROLE ${APPLICATION_ROLE} NOLOGIN;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
DO $$ BEGIN
  EXECUTE format('GRANT ${APPLICATION_ROLE} TO %I', current_user);
EXCEPTION WHEN insufficient_privilege THEN
  IF NOT pg_has_role(current_user, '${APPLICATION_ROLE}', 'MEMBER') THEN RAISE; END IF;
END $$;`;

/**
 * What the role may do, table by table. Granted anew after every migration: a dump that is restored into a cluster without
 * the role comes without its privileges.
 */
export const GRANT_PRIVILEGES = `
GRANT USAGE ON SCHEMA public TO ${APPLICATION_ROLE};
GRANT SELECT ON migrations TO ${APPLICATION_ROLE};
GRANT SELECT, INSERT ON snapshots, subjects TO ${APPLICATION_ROLE};
GRANT SELECT, INSERT, UPDATE ON tenants, memberships, updates, grants, webhook_subscriptions, refresh_requests, transfer_offers
  TO ${APPLICATION_ROLE};
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_events, deliveries, delivery_attempts, idempotency_keys, rate_limits
  TO ${APPLICATION_ROLE};`;
