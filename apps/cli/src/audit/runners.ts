import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { UsageError } from '../command';
import { AuditReader } from './database';
import type { Checked } from './findings';
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
  /** Rejects when the thread ends, which it does by itself only over a fault. */
  private readonly ended: Promise<never>;

  constructor(settings: ThreadSettings) {
    this.worker = new Worker(join(__dirname, 'thread.js'), { workerData: settings });
    this.ended = new Promise<never>((_, reject) => {
      this.worker.once('error', reject).once('exit', () => reject(new Error('a thread of the audit ended')));
    });
    // Whoever waits for an answer is told; between tasks nobody does.
    this.ended.catch(() => undefined);
  }

  async run(task: AuditTask): Promise<Checked> {
    const answered = new Promise<ThreadAnswer>((resolve) => this.worker.once('message', resolve));
    this.worker.postMessage(task);
    const answer = await Promise.race([answered, this.ended]);
    if ('failure' in answer) throw new UsageError(answer.failure);
    return answer.checked;
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }
}
