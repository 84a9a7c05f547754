import { Database, DeliveryStore, OutboxStore } from '@iss/persistence';
import { EventQueue } from '@iss/queue';
import { Injectable } from '@nestjs/common';

/** One dependency. `degraded`: the worker does its work without it, later or slower. */
export interface Check {
  status: 'ok' | 'degraded' | 'failed';
  detail?: string;
}

export interface Readiness {
  status: 'ready' | 'not_ready';
  checks: Record<'database' | 'migrations' | 'queue' | 'outbox' | 'deliveries', Check>;
}

/** Age from which events and deliveries count as late. */
const LATE_MS = 60_000;

const OK: Check = { status: 'ok' };

async function check(probe: () => Promise<Check>, onFailure: Check): Promise<Check> {
  try {
    return await probe();
  } catch {
    return onFailure;
  }
}

/** Whether the worker can do its work, dependency by dependency. */
@Injectable()
export class ReadinessService {
  constructor(
    private readonly database: Database,
    private readonly outbox: OutboxStore,
    private readonly deliveries: DeliveryStore,
    private readonly queue: EventQueue,
  ) {}

  /** The state of each dependency at this moment. Without the queue the sweep does all the work. */
  async read(): Promise<Readiness> {
    const [database, migrations, queue, outbox, deliveries] = await Promise.all([
      check(async () => this.database.ping().then(() => OK), { status: 'failed', detail: 'unreachable' }),
      check(async () => this.migrations(), { status: 'failed', detail: 'unknown: run npm run db:migrate' }),
      check(async () => this.queue.ping().then(() => OK), { status: 'degraded', detail: 'unreachable' }),
      check(async () => age('oldest event', await this.outbox.lagMs()), { status: 'degraded', detail: 'unknown' }),
      check(async () => age('oldest due delivery', await this.deliveries.oldestDueMs()), {
        status: 'degraded',
        detail: 'unknown',
      }),
    ]);
    const isReady = database.status === 'ok' && migrations.status === 'ok';
    return { status: isReady ? 'ready' : 'not_ready', checks: { database, migrations, queue, outbox, deliveries } };
  }

  private async migrations(): Promise<Check> {
    const missing = await this.database.missingMigrations();
    return missing.length === 0 ? OK : { status: 'failed', detail: `missing: ${missing.join(', ')}` };
  }
}

function age(what: string, ageMs: number): Check {
  return ageMs < LATE_MS ? OK : { status: 'degraded', detail: `${what} waits for ${Math.round(ageMs / 1_000)} s` };
}
