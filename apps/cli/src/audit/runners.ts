import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { UsageError } from '../command';
import { AuditReader } from './database';
import type { Checked } from './entries';
import { type AuditTask, runTask, type ThreadAnswer, type ThreadSettings } from './tasks';

/** Does one task at a time. */
export interface Runner {
  /** @throws UsageError when the database does not answer */
  run(task: AuditTask): Promise<Checked>;
  close(): Promise<void>;
}

/** One alone works in this thread; several in threads of their own, since hashing takes whole processors. */
export async function openRunners(settings: ThreadSettings, count: number): Promise<Runner[]> {
  if (count > 1) return Array.from({ length: count }, () => new ThreadRunner(settings));
  const reader = await AuditReader.open(settings.url, settings.moment);
  return [{ run: (task) => runTask(reader, task), close: () => reader.close() }];
}

class ThreadRunner implements Runner {
  private readonly worker: Worker;

  constructor(settings: ThreadSettings) {
    this.worker = new Worker(join(__dirname, 'thread.js'), { workerData: settings });
    // Whoever waits for an answer is told; nobody does before the first task.
    this.worker.on('error', () => undefined);
  }

  async run(task: AuditTask): Promise<Checked> {
    const answer = await new Promise<ThreadAnswer>((resolve, reject) => {
      const settle = (work: () => void): void => {
        this.worker.removeAllListeners('message').off('error', failed);
        work();
      };
      const failed = (error: Error): void => settle(() => reject(error));
      this.worker.once('message', (message: ThreadAnswer) => settle(() => resolve(message))).once('error', failed);
      this.worker.postMessage(task);
    });
    if ('failure' in answer) throw new UsageError(answer.failure);
    return answer.checked;
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }
}
