import { waitFor } from './wait-for.ts';

interface Connection {
  query(statement: string): Promise<{ rows: unknown[] }>;
}

/** Waits until a statement of another connection waits for a lock that this connection holds. */
export async function untilBlocks(connection: Connection): Promise<void> {
  const blocked = 'SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))';
  await waitFor(async () => (await connection.query(blocked)).rows.length > 0, { what: 'a statement to be blocked' });
}
