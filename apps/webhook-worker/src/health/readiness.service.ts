import { BacklogStore, Database } from '@iss/persistence';
import { migrated, reachable, type Readiness, timely } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Injectable } from '@nestjs/common';

export type WorkerReadiness = Readiness<'database' | 'migrations' | 'queue' | 'outbox' | 'deliveries'>;

/** Whether the worker can do its work, dependency by dependency. */
@Injectable()
export class ReadinessService {
  constructor(
    private readonly database: Database,
    private readonly backlog: BacklogStore,
    private readonly queue: EventQueue,
  ) {}

  /** The state of each dependency at this moment. Without the queue the sweep does all the work. */
  async read(): Promise<WorkerReadiness> {
    const [database, migrations, queue, outbox, deliveries] = await Promise.all([
      reachable(() => this.database.ping(), 'failed'),
      migrated(() => this.database.missingMigrations()),
      reachable(() => this.queue.ping(), 'degraded'),
      timely('event', () => this.backlog.oldestEventMs()),
      timely('due delivery', () => this.backlog.oldestDeliveryMs()),
    ]);
    const isReady = database.status === 'ok' && migrations.status === 'ok';
    return { status: isReady ? 'ready' : 'not_ready', checks: { database, migrations, queue, outbox, deliveries } };
  }
}
