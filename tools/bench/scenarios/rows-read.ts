import { setTimeout as wait } from 'node:timers/promises';
import type { Server } from '../stage.ts';
import type { Bench } from './scenario.ts';

const REQUESTS = 25;
/** A process of PostgreSQL tells what it did once a second at most, at the end of a statement. */
export const TOLD_AFTER_MS = 1100;

const READ_BY_REQUESTS = ['memberships', 'subjects', 'snapshots', 'grants'];

/** Rows of these tables read whole and entries of their indexes, since the server began to count. */
export async function rowsCounted({ stage }: Bench, tables: readonly string[]): Promise<number> {
  const { rows } = await stage.sql.query<{ sum: number }>(
    `SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname = ANY ($1))::float8
          + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = ANY ($1))::float8 AS sum`,
    [tables],
  );
  return rows[0]?.sum ?? NaN;
}

/**
 * Rows of tables read whole and entries of indexes, for one request of each kind: what the plans do, on any machine. The
 * probing gateway has one connection, and nobody else asks anything meanwhile.
 */
export async function rowsRead(
  bench: Bench,
  probe: Server,
  requests: readonly { path: string; headers: Record<string, string> }[],
  tables: readonly string[] = READ_BY_REQUESTS,
): Promise<number> {
  const ask = async (): Promise<void> => {
    for (const { path, headers } of requests) {
      const answer = await fetch(`http://127.0.0.1:${probe.port}${path}`, { headers });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    }
  };
  const measure = async (): Promise<number> => {
    const before = await rowsCounted(bench, tables);
    for (let time = 1; time < REQUESTS; time++) await ask();
    await wait(TOLD_AFTER_MS);
    // With the last one it tells of all.
    await ask();
    return ((await rowsCounted(bench, tables)) - before) / REQUESTS;
  };
  // What an idle connection did for a load before, it tells seconds later, once: hardly in both.
  return Math.min(await measure(), await measure());
}
