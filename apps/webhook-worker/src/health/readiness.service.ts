import { BacklogStore, Database } from '@iss/persistence';
import { inStep, intact, migrated, reachable, type Readiness, sharedChecks, timely, UNSEEN } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { LogService } from '../log/log.service';
import { Injectable } from '@nestjs/common';
import { WebhookClient } from '../delivery/webhook-client';

export type WorkerReadiness = Readiness<
  'database' | 'migrations' | 'schema' | 'clock' | 'queue' | 'outbox' | 'deliveries' | 'egress' | 'log'
>;

/** Without these the worker can do nothing. */
const NEEDED = ['database', 'migrations', 'schema'] as const;

const NOTHING_SEEN: WorkerReadiness['checks'] = {
  database: UNSEEN,
  migrations: UNSEEN,
  schema: UNSEEN,
  clock: UNSEEN,
  queue: UNSEEN,
  outbox: UNSEEN,
  deliveries: UNSEEN,
  egress: UNSEEN,
  log: UNSEEN,
};

/** Whether the worker can do its work, dependency by dependency. */
@Injectable()
export class ReadinessService {
  private readonly checks = sharedChecks(() => this.check(), NOTHING_SEEN);

  constructor(
    private readonly database: Database,
    private readonly backlog: BacklogStore,
    private readonly queue: EventQueue,
    private readonly client: WebhookClient,
    private readonly log: LogService,
  ) {}

  /** The state of each dependency, at most some seconds old where one hangs. Without the queue the sweep does all the work. */
  async read(): Promise<WorkerReadiness> {
    const checks = await this.checks();
    const isReady = NEEDED.every((name) => checks[name].status === 'ok');
    return { status: isReady ? 'ready' : 'not_ready', checks };
  }

  private async check(): Promise<WorkerReadiness['checks']> {
    const [database, migrations, schema, clock, queue, outbox, deliveries, egress] = await Promise.all([
      reachable(() => this.database.ping(), 'failed'),
      migrated(() => this.database.missingMigrations()),
      intact(() => this.database.schemaFaults()),
      inStep(() => this.database.ping()),
      reachable(() => this.queue.ping(), 'degraded'),
      timely('event', () => this.backlog.oldestEventMs()),
      timely('due delivery', () => this.backlog.oldestDeliveryMs()),
      reachable(() => this.client.pingWayOut(), 'degraded'),
    ]);
    return { database, migrations, schema, clock, queue, outbox, deliveries, egress, log: this.log.status() };
  }
}
