import { BacklogStore, Database } from '@iss/persistence';
import { migrated, reachable, type Readiness, sharedChecks, timely } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { LogService } from '../log/log.service';
import { Injectable } from '@nestjs/common';

export type WorkerReadiness = Readiness<'database' | 'migrations' | 'queue' | 'outbox' | 'deliveries' | 'log'>;

/** Whether the worker can do its work, dependency by dependency. */
@Injectable()
export class ReadinessService {
  private readonly checks = sharedChecks(() => this.check());

  constructor(
    private readonly database: Database,
    private readonly backlog: BacklogStore,
    private readonly queue: EventQueue,
    private readonly log: LogService,
  ) {}

  /** The state of each dependency, at most a second old. Without the queue the sweep does all the work. */
  async read(): Promise<WorkerReadiness> {
    const checks = await this.checks();
    const isReady = checks.database.status === 'ok' && checks.migrations.status === 'ok';
    return { status: isReady ? 'ready' : 'not_ready', checks };
  }

  private async check(): Promise<WorkerReadiness['checks']> {
    const [database, migrations, queue, outbox, deliveries] = await Promise.all([
      reachable(() => this.database.ping(), 'failed'),
      migrated(() => this.database.missingMigrations()),
      reachable(() => this.queue.ping(), 'degraded'),
      timely('event', () => this.backlog.oldestEventMs()),
      timely('due delivery', () => this.backlog.oldestDeliveryMs()),
    ]);
    return { database, migrations, queue, outbox, deliveries, log: this.log.status() };
  }
}
