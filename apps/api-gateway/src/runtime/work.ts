import { DomainError } from '@iss/domain';
import { DURATION_BUCKETS_SECONDS } from '@iss/platform';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type GatewaySettings, SETTINGS } from '../settings';
import type { Charged } from './asker';
import { Charge } from './charge';
import { type InputOf, type ResultOf, type TaskName, TASKS } from './tasks';
import { type TaskOutcome, runTask } from './thread-messages';
import { REFUSALS, ThreadPool } from './thread-pool';

/**
 * The largest size, in bytes or characters, that is processed on the main thread: about 1 ms for honest input, 10 ms
 * for the worst (docs/decisions/0021). Passing it to a thread and back would usually take longer.
 */
export const IMMEDIATE_SIZE = 64 * 1024;

const MIB = 1_048_576;
/** Heap per MiB of the body limit: several times what the worst diff of two such documents needs. */
const THREAD_HEAP_MIB = 192;

/** Runs work that may take long: small inputs immediately, larger ones in another thread. */
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
    // An alert on an increase needs an initial value.
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

  /** Runs after the last response. */
  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }

  /**
   * Returns what the task returns and throws what it throws, in either thread. Also throws `unavailable` if too much
   * work waits, or if the task exceeds its time or memory.
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
    // The thread ran exactly this task.
    return resultOf(outcome as TaskOutcome<ResultOf<Name>>);
  }

  /** Charges one request for each started millisecond after the first. */
  private chargeFor({ principalId }: Charged, processorMs: number): void {
    const requests = Math.ceil(processorMs) - 1;
    if (requests > 0) this.charge.charge(principalId, requests);
  }
}

/** Returns whether work on so many bytes or characters belongs in a thread. */
export function isLarge(size: number): boolean {
  return size > IMMEDIATE_SIZE;
}

function resultOf<Result>(outcome: TaskOutcome<Result>): Result {
  switch (outcome.kind) {
    case 'done':
      return outcome.result;
    case 'refused':
      throw new DomainError(outcome.code, outcome.message, outcome.details);
    case 'failed':
      throw outcome.error;
  }
}
