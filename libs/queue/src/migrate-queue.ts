import { PostgresConnection } from 'bullmq';
import { APPLICATION_ROLE, POSTGRES_SCHEMA } from './backend';

const GRANTS = [
  `GRANT USAGE ON SCHEMA ${POSTGRES_SCHEMA} TO ${APPLICATION_ROLE}`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${POSTGRES_SCHEMA} TO ${APPLICATION_ROLE}`,
  `GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${POSTGRES_SCHEMA} TO ${APPLICATION_ROLE}`,
  `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${POSTGRES_SCHEMA} TO ${APPLICATION_ROLE}`,
];

/**
 * Brings BullMQ's tables in the schema `bullmq` up to date and lets the application role use them. To be run as the
 * owner, after the service's own migrations (they create the role); repeating it changes nothing. Only the PostgreSQL
 * backend needs it.
 */
export async function migrateQueue(databaseUrl: string): Promise<void> {
  const connection = new PostgresConnection({ connectionString: databaseUrl, schema: POSTGRES_SCHEMA, migrate: true, max: 1 });
  // Failures reject the calls below; without a listener an idle connection's error would end the process.
  connection.on('error', () => undefined);
  try {
    await connection.waitUntilReady();
    for (const grant of GRANTS) await connection.pool.query(grant);
  } finally {
    await connection.close();
  }
}
