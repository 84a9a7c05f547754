import { APPLICATION_ROLE } from '@iss/platform';
import { PostgresConnection } from 'bullmq';
import { POSTGRES_SCHEMA } from './backend';

/** The application role gets its rights on whatever the migrations create. BullMQ creates one sequence a queue itself. */
const GRANTS = [
  `CREATE SCHEMA IF NOT EXISTS ${POSTGRES_SCHEMA}`,
  `GRANT USAGE, CREATE ON SCHEMA ${POSTGRES_SCHEMA} TO ${APPLICATION_ROLE}`,
  `ALTER DEFAULT PRIVILEGES IN SCHEMA ${POSTGRES_SCHEMA}
     GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${APPLICATION_ROLE}`,
  `ALTER DEFAULT PRIVILEGES IN SCHEMA ${POSTGRES_SCHEMA} GRANT USAGE, SELECT ON SEQUENCES TO ${APPLICATION_ROLE}`,
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
