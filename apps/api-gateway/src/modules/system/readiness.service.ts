import { BacklogStore, Database, FeedStore, LogCheckpointStore } from '@iss/persistence';
import { type Check, databaseChecks, following, reachable, type Readiness, sharedChecks, timely } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { KeySet } from '../../auth/key-set';
import { type GatewaySettings, SETTINGS } from '../../settings';

export type GatewayReadiness = Readiness<
  'database' | 'migrations' | 'schema' | 'clock' | 'issuer' | 'queue' | 'outbox' | 'log' | 'feed'
> & {
  /** Absent where none is configured, and where the maxima are not known. */
  checks: { replica?: Check; connections?: Check };
};

/** If one of these fails, the gateway can answer nobody. One that is degraded still lets it answer. */
const NEEDED = ['database', 'migrations', 'schema', 'issuer'] as const;

/**
 * Decides whether the gateway gets requests. A dependency that it needs and that is degraded, such as an issuer that is away
 * while its previous keys are trusted, takes no gateway out of the load balancer.
 */
export function statusOf(checks: GatewayReadiness['checks'], isDraining: boolean): GatewayReadiness['status'] {
  return !isDraining && NEEDED.every((name) => checks[name].status !== 'failed') ? 'ready' : 'not_ready';
}

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
    private readonly keys: KeySet,
    private readonly feeds: FeedStore,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /** From now on the process is not ready: it is about to stop. */
  drain(): void {
    this.isDraining = true;
  }

  /**
   * The state of each dependency, at most a second old, some seconds where one hangs; and whether this process drains, at
   * this moment. Answers within half a second whatever hangs. Without the queue the gateway does all its work.
   */
  async read(): Promise<GatewayReadiness> {
    const checks = await this.checks();
    return { status: statusOf(checks, this.isDraining), checks };
  }

  private async check(): Promise<GatewayReadiness['checks']> {
    const [ofDatabase, issuer, queue, outbox, log, feed] = await Promise.all([
      databaseChecks(this.database, this.settings.neededConnections),
      this.keys.check(),
      reachable(() => this.queue.ping(), 'degraded'),
      timely('event', () => this.backlog.oldestEventMs()),
      timely('fact that is not in the published log', () => this.log.lagMs()),
      timely('entry of the log that is not in the change feeds', () => this.feeds.lagMs()),
    ]);
    const { replica } = this.database;
    const ofReplica = replica === null ? {} : { replica: following(replica) };
    return { ...ofDatabase, ...ofReplica, issuer, queue, outbox, log, feed };
  }
}
