import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { UsageError } from '../command';
import type { Checked } from './findings';
import { type AuditTask, openSources, runAuditTask, type ThreadAnswer, type ThreadSettings } from './tasks';

/** Runs one task at a time. */
export interface Runner {
  /** @throws UsageError if the database does not answer */
  run(task: AuditTask): Promise<Checked>;
  close(): Promise<void>;
}

/** Opens runners. A single one uses this thread. Several use a thread each, because hashing needs whole processors. */
export async function openRunners(settings: ThreadSettings, count: number): Promise<Runner[]> {
  if (count > 1) return Array.from({ length: count }, () => new ThreadRunner(settings));
  const sources = await openSources(settings);
  const close = async (): Promise<void> => {
    sources.archive?.close();
    await sources.reader.close();
  };
  return [{ run: (task) => runAuditTask(sources, task), close }];
}

class ThreadRunner implements Runner {
  private readonly worker: Worker;
  /** Rejects when the thread ends unexpectedly. */
  private readonly ended: Promise<never>;

  constructor(settings: ThreadSettings) {
    this.worker = new Worker(join(__dirname, 'thread.js'), { workerData: settings });
    this.ended = new Promise<never>((_, reject) => {
      this.worker.once('error', reject).once('exit', () => reject(new Error('a thread of the audit ended')));
    });
    // Avoids an unhandled rejection between tasks.
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
