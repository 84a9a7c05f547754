import { BacklogStore, Database, LogCheckpointStore } from '@iss/persistence';
import { migrated, reachable, type Readiness, sharedChecks, timely } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Injectable } from '@nestjs/common';

export type GatewayReadiness = Readiness<'database' | 'migrations' | 'queue' | 'outbox' | 'log'>;

/** Whether this process should get requests, dependency by dependency. */
@Injectable()
export class ReadinessService {
  private isDraining = false;
  private readonly checks = sharedChecks(() => this.check());

  constructor(
    private readonly database: Database,
    private readonly backlog: BacklogStore,
    private readonly queue: EventQueue,
    private readonly log: LogCheckpointStore,
  ) {}

  /** From now on the process is not ready: it is about to stop. */
  drain(): void {
    this.isDraining = true;
  }

  /**
   * The state of each dependency, at most a second old, and whether this process drains, at this moment. Of the
   * dependencies only the database stops the gateway from doing its work.
   */
  async read(): Promise<GatewayReadiness> {
    const checks = await this.checks();
    const isReady = !this.isDraining && checks.database.status === 'ok' && checks.migrations.status === 'ok';
    return { status: isReady ? 'ready' : 'not_ready', checks };
  }

  private async check(): Promise<GatewayReadiness['checks']> {
    const [database, migrations, queue, outbox, log] = await Promise.all([
      reachable(() => this.database.ping(), 'failed'),
      migrated(() => this.database.missingMigrations()),
      reachable(() => this.queue.ping(), 'degraded'),
      timely('event', () => this.backlog.oldestEventMs()),
      timely('fact that is not in the published log', () => this.log.lagMs()),
    ]);
    return { database, migrations, queue, outbox, log };
  }
}
