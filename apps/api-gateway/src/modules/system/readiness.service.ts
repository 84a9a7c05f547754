import { BacklogStore, Database, FeedStore, LogCheckpointStore } from '@iss/persistence';
import {
  type DependencyCheck,
  databaseChecks,
  following,
  reachable,
  type Readiness,
  sharedChecks,
  timely,
} from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { KeySet } from '../../auth/key-set';
import { PublishedMap } from '../../log/map/published-map';
import { type GatewaySettings, SETTINGS } from '../../settings';

export type GatewayReadiness = Readiness<
  'database' | 'migrations' | 'schema' | 'clock' | 'issuer' | 'queue' | 'outbox' | 'log' | 'feed'
> & {
  /** Absent if no replica or archive is configured, if the connection maxima are unknown, or if nothing keeps this gateway from proofs by the map. */
  checks: {
    replica?: DependencyCheck;
    archive?: DependencyCheck;
    connections?: DependencyCheck;
    map?: DependencyCheck;
  };
};

/** If one of these fails, the gateway can answer nobody. If one is degraded, the gateway still works. */
const NEEDED = ['database', 'migrations', 'schema', 'issuer'] as const;

/**
 * Decides whether the gateway gets requests. A degraded dependency does not remove a gateway from the load balancer,
 * for example an unreachable issuer whose previous keys are still trusted.
 */
export function readinessOf(checks: GatewayReadiness['checks'], isDraining: boolean): GatewayReadiness['status'] {
  return !isDraining && NEEDED.every((name) => checks[name].status !== 'failed') ? 'ready' : 'not_ready';
}

/** Checks whether this process should get requests, with the state of each dependency. */
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
    private readonly map: PublishedMap,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /** Makes the process not ready from now on, because it is about to stop. */
  drain(): void {
    this.isDraining = true;
  }

  /**
   * Returns the state of each dependency and whether the process drains. The states are at most a second old, or some
   * seconds if a dependency hangs. Answers within half a second in any case. The gateway works fully without the queue.
   */
  async read(): Promise<GatewayReadiness> {
    const checks = await this.checks();
    return { status: readinessOf(checks, this.isDraining), checks };
  }

  private async check(): Promise<GatewayReadiness['checks']> {
    const { replica, archive } = this.database;
    const [ofDatabase, ofArchive, issuer, queue, outbox, log, feed, map] = await Promise.all([
      databaseChecks(this.database, this.settings.neededConnections),
      archive === null ? {} : reachable(() => archive.ping(), 'degraded').then((check) => ({ archive: check })),
      this.keys.check(),
      reachable(() => this.queue.ping(), 'degraded'),
      timely('event', () => this.backlog.oldestEventMs()),
      timely('fact that is not in the published log', () => this.log.lagMs()),
      timely('entry of the log that is not in the change feeds', () => this.feeds.lagMs()),
      this.map.check().catch(() => null),
    ]);
    const ofReplica = replica === null ? {} : { replica: following(replica) };
    return {
      ...ofDatabase,
      ...ofReplica,
      ...ofArchive,
      ...(map === null ? {} : { map }),
      issuer,
      queue,
      outbox,
      log,
      feed,
    };
  }
}
