import { generateKeys } from '@iss/tlog';
import { waitFor } from '../../testing/wait-for.ts';
import type { Server } from '../stage.ts';
import type { Bench } from './scenario.ts';

const ORIGIN = 'log.example/bench';
const DEADLINE_MS = 600_000;

/** All parts of the bench use the same log key. */
let keys: ReturnType<typeof generateKeys> | undefined;

/** Runs a worker that integrates and signs during a measurement. */
export async function withLogWorker<T>(
  { stage }: Bench,
  intervalMs: number,
  measure: (worker: Server) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  const { signingKey } = await (keys ??= generateKeys(ORIGIN, 'ed25519'));
  const worker = await stage.startWorker({
    ...env,
    LOG_ORIGIN: ORIGIN,
    LOG_SIGNING_KEY: signingKey,
    LOG_CHECKPOINT_INTERVAL_MS: String(intervalMs),
  });
  try {
    return await measure(worker);
  } finally {
    await worker.stop();
  }
}

/** Waits until everything is integrated and published. */
export async function untilPublished({ stage }: Bench): Promise<void> {
  const isPublished = async (): Promise<boolean> => {
    const { rows } = await stage.sql.query<{ done: boolean }>(
      `SELECT NOT EXISTS (SELECT FROM log_waiting)
          AND size = (SELECT c.size FROM log_checkpoints c ORDER BY checkpoint_id DESC LIMIT 1) AS done FROM log_tree`,
    );
    return rows[0]?.done === true;
  };
  await waitFor(isPublished, { deadlineMs: DEADLINE_MS, what: 'the log' });
}

/** Waits until the feeds contain everything published, so that their reads do not count as a cost of the log. */
export async function untilFed(bench: Bench): Promise<void> {
  await untilPublished(bench);
  const isFed = async (): Promise<boolean> => {
    const { rows } = await bench.stage.sql.query<{ done: boolean }>(
      'SELECT f.size = t.size AS done FROM log_feed f CROSS JOIN log_tree t',
    );
    return rows[0]?.done === true;
  };
  await waitFor(isFed, { deadlineMs: DEADLINE_MS, what: 'the feeds' });
}
