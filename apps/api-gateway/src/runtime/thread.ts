import { parentPort } from 'node:worker_threads';
import { type Order, perform, type Report } from './thread-messages';

parentPort?.on('message', (order: Order) => {
  const before = process.threadCpuUsage();
  const outcome = perform(order);
  const { user, system } = process.threadCpuUsage(before);
  const report: Report = { outcome, processorMs: (user + system) / 1_000 };
  parentPort?.postMessage(report);
});
