import { setTimeout as wait } from 'node:timers/promises';
import type { Server } from '../stage.ts';
import type { Bench } from './scenario.ts';

const REQUESTS = 25;
/** A process of PostgreSQL reports its counters at most once per second, at the end of a statement. */
export const TOLD_AFTER_MS = 1100;

const READ_BY_REQUESTS = ['memberships', 'subjects', 'snapshots', 'grants'];

/** Returns the rows read by sequential scans of these tables plus the entries read of their indexes, since the last reset. */
export async function rowsCounted({ stage }: Bench, tables: readonly string[]): Promise<number> {
  const { rows } = await stage.sql.query<{ sum: number }>(
    `SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname = ANY ($1))::float8
          + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = ANY ($1))::float8 AS sum`,
    [tables],
  );
  return rows[0]?.sum ?? NaN;
}

/**
 * Returns the rows and index entries read by a request of each kind. They depend on the plans and not on the machine. The
 * probing gateway has one connection, and nothing else runs.
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
    // The last request makes it report all of them.
    await ask();
    return ((await rowsCounted(bench, tables)) - before) / REQUESTS;
  };
  // An idle connection reports earlier work once, seconds later, so it affects at most one of the two.
  return Math.min(await measure(), await measure());
}
