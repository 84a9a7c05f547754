import { APP_ROLES, APPLICATION_ROLE } from '@iss/platform';
import { PostgresConnection } from 'bullmq';
import { POSTGRES_SCHEMA } from './backend';

const ROLES = [APPLICATION_ROLE, ...Object.values(APP_ROLES)].join(', ');

/**
 * Grants the applications' roles their privileges on everything that exists and that the migrations create. BullMQ
 * itself creates a sequence for each queue, as the role of the first application, and the other roles may use it.
 */
const GRANTS = [
  `CREATE SCHEMA IF NOT EXISTS ${POSTGRES_SCHEMA}`,
  `GRANT USAGE, CREATE ON SCHEMA ${POSTGRES_SCHEMA} TO ${ROLES}`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${POSTGRES_SCHEMA} TO ${ROLES}`,
  `GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${POSTGRES_SCHEMA} TO ${ROLES}`,
  `ALTER DEFAULT PRIVILEGES IN SCHEMA ${POSTGRES_SCHEMA}
     GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${ROLES}`,
  `ALTER DEFAULT PRIVILEGES IN SCHEMA ${POSTGRES_SCHEMA} GRANT USAGE, SELECT ON SEQUENCES TO ${ROLES}`,
  `ALTER DEFAULT PRIVILEGES FOR ROLE ${ROLES} IN SCHEMA ${POSTGRES_SCHEMA} GRANT USAGE, SELECT ON SEQUENCES TO ${ROLES}`,
];

/**
 * Migrates BullMQ's tables in the schema `bullmq` and grants the application roles access. Run it as the owner, after
 * the service's own migrations, which create the roles. It is idempotent, and only the PostgreSQL backend needs it.
 * Rejects if the database is unreachable or the login cannot create a schema.
 */
export async function migrateQueue(databaseUrl: string): Promise<void> {
  const connection = new PostgresConnection({
    connectionString: databaseUrl,
    schema: POSTGRES_SCHEMA,
    migrate: true,
    max: 1,
  });
  // Failures reject the calls below. Without a listener, an error of an idle connection would end the process.
  connection.on('error', () => undefined);
  try {
    for (const grant of GRANTS) await connection.pool.query(grant);
    await connection.waitUntilReady();
  } finally {
    await connection.close();
  }
}
