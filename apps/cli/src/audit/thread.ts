import { parentPort, workerData } from 'node:worker_threads';
import { AuditReader } from './database';
import { type AuditTask, runTask, type ThreadAnswer, type ThreadSettings } from './tasks';

/** A thread of the audit, which runs tasks on one connection until it is terminated. */
const { url, moment }: ThreadSettings = workerData;
const reader = AuditReader.open(url, moment);
reader.catch(() => undefined);

const answer = async (task: AuditTask): Promise<ThreadAnswer> => {
  try {
    return { checked: await runTask(await reader, task) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
};

parentPort?.on('message', (task: AuditTask) => {
  answer(task).then(
    (result) => parentPort?.postMessage(result),
    (error: unknown) => {
      throw error;
    },
  );
});
