import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { type Order, perform, type Report } from './thread-messages';

/** More than the process has: the thread that serves everybody, and the database beside it, come first. */
const NICENESS = 10;

// Linux alone has a priority for each thread; elsewhere this would be the whole process's.
if (process.platform === 'linux') setPriority(NICENESS);

parentPort?.on('message', (order: Order) => {
  const before = process.threadCpuUsage();
  const outcome = perform(order);
  const { user, system } = process.threadCpuUsage(before);
  const report: Report = { outcome, processorMs: (user + system) / 1_000 };
  parentPort?.postMessage(report);
});
