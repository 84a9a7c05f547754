import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { UserError } from './processes.ts';

/** The role that each app acts as. */
const ROLES = { gateway: 'iss_gateway', worker: 'iss_worker' } as const;

const OWNS_TABLES = `
  SELECT pg_has_role(session_user, c.relowner, 'MEMBER') AS "ownsTables" FROM pg_class c WHERE c.oid = to_regclass('public.snapshots')`;

/**
 * Returns a URL whose login an app accepts: the given one, unless it owns the tables. Then it creates a login for this database
 * that is a member of the app's role only. @throws UserError if the given login may not create one
 */
export async function appUrl(databaseUrl: string, app: keyof typeof ROLES, password: string): Promise<string> {
  const client = new Client({ connectionString: databaseUrl });
  // If the connection fails, the app reports the reason itself. With several hosts, the app finds the writable one.
  const isThere = await client.connect().then(
    () => true,
    () => false,
  );
  if (!isThere) return databaseUrl;
  try {
    const { rows } = await client.query<{ ownsTables: boolean }>(OWNS_TABLES);
    if (rows[0]?.ownsTables !== true) return databaseUrl;
    const { rows: databases } = await client.query<{ name: string }>('SELECT current_database() AS name');
    // Several processes may start at once. The lock ends with the connection.
    await client.query("SELECT pg_advisory_lock(hashtext('iss_app_login'))");
    // Logins belong to the whole cluster, so the name includes the database.
    const login = `iss_${app}_${createHash('sha256').update(String(databases[0]?.name)).digest('hex').slice(0, 8)}`;
    const known = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [login]);
    await client.query(
      `${known.rowCount === 0 ? 'CREATE' : 'ALTER'} ROLE ${login} LOGIN PASSWORD ${client.escapeLiteral(password)}`,
    );
    await client.query(`GRANT ${ROLES[app]} TO ${login}`);
    const url = new URL(databaseUrl);
    return Object.assign(url, { username: login, password }).toString();
  } catch (error) {
    const isRefused = error instanceof Error && 'code' in error && error.code === '42501';
    if (!isRefused) throw error;
    throw new UserError(
      `The login of DATABASE_URL owns the tables, so the apps refuse it, and it may not create a login for the ${app} (${error.message}). ` +
        'Run ALTER ROLE … CREATEROLE, or run npm run db:migrate and start with a separate login (docs/operations/database.md).',
    );
  } finally {
    await client.end();
  }
}
