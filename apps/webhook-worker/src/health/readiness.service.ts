import { BacklogStore, Database, FeedStore } from '@iss/persistence';
import { type DependencyCheck, databaseChecks, reachable, type Readiness, sharedChecks, timely } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { Dispatcher } from '../delivery/dispatcher';
import { WebhookClient } from '../delivery/webhook-client';
import { LogProjection } from '../projections/log';
import { SETTINGS, type WorkerSettings } from '../settings';

export type WorkerReadiness = Readiness<
  'database' | 'migrations' | 'schema' | 'clock' | 'queue' | 'outbox' | 'deliveries' | 'egress' | 'log' | 'feed'
> & {
  /** Absent if no archive is configured, or if the connection maxima are unknown. */
  checks: { archive?: DependencyCheck; connections?: DependencyCheck };
};

/** Without these, the worker can do nothing. */
const NEEDED = ['database', 'migrations', 'schema'] as const;

/** Checks whether the worker can do its work, with the state of each dependency. */
@Injectable()
export class WorkerReadinessService {
  private readonly checks = sharedChecks(() => this.check());

  constructor(
    private readonly database: Database,
    private readonly backlog: BacklogStore,
    private readonly queue: EventQueue,
    private readonly client: WebhookClient,
    private readonly log: LogProjection,
    private readonly dispatcher: Dispatcher,
    private readonly feeds: FeedStore,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
  ) {}

  /**
   * Returns the state of each dependency, at most some seconds old if one hangs. Without the queue, the sweep does all
   * the work.
   */
  async read(): Promise<WorkerReadiness> {
    const checks = await this.checks();
    const isReady = NEEDED.every((name) => checks[name].status === 'ok');
    return { status: isReady ? 'ready' : 'not_ready', checks };
  }

  private async check(): Promise<WorkerReadiness['checks']> {
    const { archive } = this.database;
    const [ofDatabase, ofArchive, queue, outbox, deliveries, egress, feed] = await Promise.all([
      databaseChecks(this.database, this.settings.neededConnections),
      archive === null ? {} : reachable(() => archive.ping(), 'degraded').then((check) => ({ archive: check })),
      reachable(() => this.queue.ping(), 'degraded'),
      timely('event', () => this.backlog.oldestEventMs()),
      timely('delivery that only lacks a slot', async () => this.dispatcher.oldestRunnableMs()),
      reachable(() => this.client.pingEgress(), 'degraded'),
      timely('entry of the log that is not in the change feeds', () => this.feeds.lagMs()),
    ]);
    return { ...ofDatabase, ...ofArchive, queue, outbox, deliveries, egress, log: this.log.status(), feed };
  }
}
