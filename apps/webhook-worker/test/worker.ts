import type * as host from '../../../tools/testing/worker-host';

declare global {
  /** Set by `tools/testing/shared-environment.cjs`. */
  var workerHost: () => Promise<typeof host>;
}

export type TestWorkers = host.TestWorkers;

/** Opens a database, and a queue at this URL or on PostgreSQL, for as many workers as a test starts. */
export async function startWorkers(queueUrl?: string): Promise<TestWorkers> {
  return (await workerHost()).startWorkers(queueUrl);
}
