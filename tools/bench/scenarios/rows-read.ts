import { setTimeout as wait } from 'node:timers/promises';
import type { Server } from '../stage.ts';
import type { Bench } from './scenario.ts';

const REQUESTS = 25;
/** A process of PostgreSQL tells what it did once a second at most, at the end of a statement. */
const TOLD_AFTER_MS = 1100;

/**
 * Rows of tables read whole and entries of indexes, for one request of each kind: what the plans do, on any machine. The
 * probing gateway has one connection, and nobody else asks anything meanwhile.
 */
export async function rowsRead(
  { stage }: Bench,
  probe: Server,
  requests: readonly { path: string; headers: Record<string, string> }[],
): Promise<number> {
  const counted = async (): Promise<number> => {
    const { rows } = await stage.sql.query<{ sum: number }>(
      `SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname = ANY ($1))::float8
            + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = ANY ($1))::float8 AS sum`,
      [['memberships', 'subjects', 'snapshots', 'grants']],
    );
    return rows[0]?.sum ?? NaN;
  };
  const ask = async (): Promise<void> => {
    for (const { path, headers } of requests) {
      const answer = await fetch(`http://127.0.0.1:${probe.port}${path}`, { headers });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    }
  };
  const measure = async (): Promise<number> => {
    const before = await counted();
    for (let time = 1; time < REQUESTS; time++) await ask();
    await wait(TOLD_AFTER_MS);
    // With the last one it tells of all.
    await ask();
    return ((await counted()) - before) / REQUESTS;
  };
  // What an idle connection did for a load before, it tells seconds later, once: hardly in both.
  return Math.min(await measure(), await measure());
}
