import { DomainError } from '@iss/domain';
import { Client } from './client';

/**
 * Returns an SQL expression: true if the server knows the statement of this name by another name, because a pooler that shares
 * servers renamed it.
 */
export const IS_SHARED = (name: string): string =>
  `(SELECT true FROM pg_prepared_statements WHERE name = '${name}' LIMIT 1) IS NULL`;

const NAME = 'session';
const SESSION = { name: NAME, text: `SELECT pg_backend_pid() AS pid, ${IS_SHARED(NAME)} AS "isShared"` };
interface Session {
  pid: number;
  isShared: boolean;
}

export const NO_SESSIONS =
  'a transaction-mode pooler provides no sessions (docs/operations/high-availability.md, "Poolers")';

/** Rejects if settings do not survive a statement because a transaction-mode pooler runs the next one on another server. */
export async function requireSessions(connectionString: string, connectionTimeoutMillis: number): Promise<void> {
  const clients = [0, 1].map(() => new Client({ connectionString, connectionTimeoutMillis }));
  try {
    const pids = new Set<number>();
    for (const client of clients) {
      await client.connect();
      // A transaction occupies one server. Without sessions, a pooler gives the second client the server that the first has just
      // used.
      await client.query('BEGIN');
      const { rows } = await client.query<Session>(SESSION);
      await client.query('COMMIT');
      for (const { pid, isShared } of rows) {
        if (isShared || pids.has(pid)) throw new DomainError('unavailable', `This needs a session: ${NO_SESSIONS}.`);
        pids.add(pid);
      }
    }
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}
