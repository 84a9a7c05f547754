import { Database, OutboxStore } from '@iss/persistence';
import { EventQueue } from '@iss/queue';
import { Injectable } from '@nestjs/common';

/** One dependency. `degraded`: the service does its work without it, later (the worker's sweep delivers). */
export interface Check {
  status: 'ok' | 'degraded' | 'failed';
  detail?: string;
}

export interface Readiness {
  status: 'ready' | 'not_ready';
  checks: Record<'database' | 'migrations' | 'queue' | 'outbox', Check>;
}

/** Age from which events count as late, in seconds. */
const OUTBOX_LAG_SECONDS = 60;

const OK: Check = { status: 'ok' };

async function check(probe: () => Promise<Check>, onFailure: Check): Promise<Check> {
  try {
    return await probe();
  } catch {
    return onFailure;
  }
}

/** Whether this process should get requests, dependency by dependency. */
@Injectable()
export class ReadinessService {
  private isDraining = false;

  constructor(
    private readonly database: Database,
    private readonly outbox: OutboxStore,
    private readonly queue: EventQueue,
  ) {}

  /** From now on the process is not ready: it is about to stop. */
  drain(): void {
    this.isDraining = true;
  }

  /** The state of each dependency at this moment. Only the database stops the gateway from doing its work. */
  async read(): Promise<Readiness> {
    const [database, migrations, queue, outbox] = await Promise.all([
      check(async () => this.database.ping().then(() => OK), { status: 'failed', detail: 'unreachable' }),
      check(async () => this.migrations(), { status: 'failed', detail: 'unknown: run npm run db:migrate' }),
      check(async () => this.queue.ping().then(() => OK), { status: 'degraded', detail: 'unreachable' }),
      check(async () => this.outboxLag(), { status: 'degraded', detail: 'unknown' }),
    ]);
    const isReady = !this.isDraining && database.status === 'ok' && migrations.status === 'ok';
    return { status: isReady ? 'ready' : 'not_ready', checks: { database, migrations, queue, outbox } };
  }

  private async migrations(): Promise<Check> {
    const missing = await this.database.missingMigrations();
    return missing.length === 0 ? OK : { status: 'failed', detail: `missing: ${missing.join(', ')}` };
  }

  private async outboxLag(): Promise<Check> {
    const lagSeconds = (await this.outbox.lagMs()) / 1_000;
    return lagSeconds < OUTBOX_LAG_SECONDS
      ? OK
      : { status: 'degraded', detail: `oldest event waits for ${Math.round(lagSeconds)} s; is a worker running?` };
  }
}
