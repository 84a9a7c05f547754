import { parentPort, workerData } from 'node:worker_threads';
import { type AuditTask, openSources, runAuditTask, type ThreadAnswer, type ThreadSettings } from './tasks';

/** A thread of the audit, which runs tasks on one connection until it is terminated. */
const settings: ThreadSettings = workerData;
const sources = openSources(settings);
sources.catch(() => undefined);

const answer = async (task: AuditTask): Promise<ThreadAnswer> => {
  try {
    return { checked: await runAuditTask(await sources, task) };
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
