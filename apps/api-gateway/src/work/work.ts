import { DomainError } from '@iss/domain';
import { DURATION_BUCKETS_SECONDS } from '@iss/platform';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type GatewaySettings, SETTINGS } from '../settings';
import type { Charged } from './asker';
import { Charge } from './charge';
import { type InputOf, type ResultOf, type TaskName, TASKS } from './tasks';
import { type Outcome, runTask } from './thread-messages';
import { REFUSALS, ThreadPool } from './thread-pool';

/**
 * Bytes, or characters, that are worked on where they are: about 1 ms for what honest callers send, 10 ms for the worst
 * (docs/decisions/0021). To send them to a thread and back takes longer than most of that.
 */
export const IMMEDIATE_SIZE = 64 * 1024;

const MIB = 1_048_576;
/** For each MiB that a body may have: several times what the worst diff of two such documents takes. */
const THREAD_HEAP_MIB = 192;

/** Does what may take long: what is small at once, what is larger in a thread beside the one that serves everybody. */
@Injectable()
export class Work implements OnApplicationShutdown {
  private readonly pool: ThreadPool;

  constructor(
    @Inject(SETTINGS) { work, limits }: GatewaySettings,
    private readonly charge: Charge,
    metrics: Registry,
  ) {
    const registers = [metrics];
    const durations = new Histogram({
      name: 'work_task_processor_seconds',
      help: 'Processor time of tasks in threads',
      labelNames: ['task'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers,
    });
    const refused = new Counter({
      name: 'work_tasks_refused_total',
      help: 'Tasks that found no free place, or exceeded their time limit',
      labelNames: ['why'],
      registers,
    });
    // An alert on an increase needs the value before it.
    for (const why of REFUSALS) refused.inc({ why }, 0);
    const heapMiB = Math.ceil(THREAD_HEAP_MIB * Math.max(1, limits.bodyBytes / MIB));
    const pool = new ThreadPool({
      ...work,
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
      onRun: (asker, task, processorMs) => {
        durations.observe({ task }, processorMs / 1_000);
        this.chargeFor(asker, processorMs);
      },
      onRefused: (why) => refused.inc({ why }),
    });
    this.pool = pool;
    new Gauge({
      name: 'work_tasks',
      help: 'Tasks that run in threads, and tasks that wait for one',
      labelNames: ['state'],
      registers,
      collect() {
        this.set({ state: 'running' }, pool.running);
        this.set({ state: 'waiting' }, pool.waiting);
      },
    });
  }

  /** After the last answer. */
  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }

  /**
   * What the task gives, or throws: the same wherever it runs. Throws `unavailable` besides, where too much waits, or where
   * the task takes longer, or more memory, than it may.
   */
  run<Name extends TaskName>(
    asker: Charged,
    task: Name,
    input: InputOf<Name>,
  ): ResultOf<Name> | Promise<ResultOf<Name>> {
    return isLarge(TASKS[task].size(input)) ? this.runInThread(asker, task, input) : runTask(task, input);
  }

  private async runInThread<Name extends TaskName>(
    asker: Charged,
    task: Name,
    input: InputOf<Name>,
  ): Promise<ResultOf<Name>> {
    const outcome = await this.pool.run(asker, { task, input });
    // The thread did this very task.
    return resultOf(outcome as Outcome<ResultOf<Name>>);
  }

  /** One request for each millisecond begun beyond the first. */
  private chargeFor({ principalId }: Charged, processorMs: number): void {
    const requests = Math.ceil(processorMs) - 1;
    if (requests > 0) this.charge.charge(principalId, requests);
  }
}

/** Whether what has so many bytes, or characters, is work for a thread. */
export function isLarge(size: number): boolean {
  return size > IMMEDIATE_SIZE;
}

function resultOf<Result>(outcome: Outcome<Result>): Result {
  switch (outcome.kind) {
    case 'done':
      return outcome.result;
    case 'refused':
      throw new DomainError(outcome.code, outcome.message, outcome.details);
    case 'failed':
      throw outcome.error;
  }
}
