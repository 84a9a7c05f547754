import { APP_ROLES, APPLICATION_ROLE } from '@iss/platform';
import { PostgresConnection } from 'bullmq';
import { POSTGRES_SCHEMA } from './backend';

const ROLES = [APPLICATION_ROLE, ...Object.values(APP_ROLES)].join(', ');

/**
 * The applications' roles get their rights on whatever is there and on whatever the migrations create. BullMQ creates one
 * sequence a queue itself, as the application that comes first: the others may use it.
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
 * Brings BullMQ's tables in the schema `bullmq` up to date and lets the application role use them. To be run as the
 * owner, after the service's own migrations (they create the role); repeating it changes nothing. Only the PostgreSQL
 * backend needs it. Rejects when the database cannot be reached or the login may not create a schema.
 */
export async function migrateQueue(databaseUrl: string): Promise<void> {
  const connection = new PostgresConnection({
    connectionString: databaseUrl,
    schema: POSTGRES_SCHEMA,
    migrate: true,
    max: 1,
  });
  // Failures reject the calls below; without a listener an idle connection's error would end the process.
  connection.on('error', () => undefined);
  try {
    for (const grant of GRANTS) await connection.pool.query(grant);
    await connection.waitUntilReady();
  } finally {
    await connection.close();
  }
}
