import { parentPort } from 'node:worker_threads';
import { TASKS } from './tasks';
import { type Order, type TaskOutcome, perform, type Report } from './thread-messages';

parentPort?.on('message', (order: Order) => {
  const before = process.threadCpuUsage();
  const send = (outcome: TaskOutcome): void => {
    const { user, system } = process.threadCpuUsage(before);
    const report: Report = { outcome, processorMs: (user + system) / 1_000 };
    parentPort?.postMessage(report);
  };
  const { prepare } = TASKS[order.task];
  if (prepare === undefined) send(perform(order));
  else
    prepare().then(
      () => send(perform(order)),
      (error: unknown) => send({ kind: 'failed', error }),
    );
});
