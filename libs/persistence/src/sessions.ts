import { DomainError } from '@iss/domain';
import { Client } from 'pg';

/** Of a statement of this name: whether the server knows it by another one, which a pooler that shares servers gives it. */
export const IS_SHARED = (name: string): string =>
  `(SELECT true FROM pg_prepared_statements WHERE name = '${name}' LIMIT 1) IS NULL`;

const NAME = 'session';
const SESSION = { name: NAME, text: `SELECT pg_backend_pid() AS pid, ${IS_SHARED(NAME)} AS "isShared"` };
interface Session {
  pid: number;
  isShared: boolean;
}

export const NO_SESSIONS =
  'a pooler in between shares servers among transactions, which have no session (docs/operations/high-availability.md, "Poolers")';

/** Rejects where what one statement sets is not there for the next one, since a pooler has it run elsewhere. */
export async function requireSessions(connectionString: string, connectionTimeoutMillis: number): Promise<void> {
  const clients = [0, 1].map(() => new Client({ connectionString, connectionTimeoutMillis }));
  // The failure rejects the statement under way; without a listener it would end the process.
  for (const client of clients) client.on('error', () => undefined);
  try {
    const pids = new Set<number>();
    for (const client of clients) {
      await client.connect();
      // Whoever is in a transaction has a server for itself: it is the one that the other has just used, if that is not its own.
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
