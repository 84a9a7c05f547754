import { BacklogStore, Database, LogCheckpointStore } from '@iss/persistence';
import {
  type Check,
  following,
  inStep,
  intact,
  migrated,
  reachable,
  type Readiness,
  sharedChecks,
  timely,
  UNSEEN,
} from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Injectable } from '@nestjs/common';
import { KeySet } from '../../auth/key-set';

export type GatewayReadiness = Readiness<
  'database' | 'migrations' | 'schema' | 'clock' | 'issuer' | 'queue' | 'outbox' | 'log'
> & {
  /** Absent where none is configured. */
  checks: { replica?: Check };
};

/** Without these a gateway can answer nobody. */
const NEEDED = ['database', 'migrations', 'schema', 'issuer'] as const;

const NOTHING_SEEN: GatewayReadiness['checks'] = {
  database: UNSEEN,
  migrations: UNSEEN,
  schema: UNSEEN,
  clock: UNSEEN,
  issuer: UNSEEN,
  queue: UNSEEN,
  outbox: UNSEEN,
  log: UNSEEN,
};

/** Whether this process should get requests, dependency by dependency. */
@Injectable()
export class ReadinessService {
  private isDraining = false;
  private readonly checks = sharedChecks(() => this.check(), NOTHING_SEEN);

  constructor(
    private readonly database: Database,
    private readonly backlog: BacklogStore,
    private readonly queue: EventQueue,
    private readonly log: LogCheckpointStore,
    private readonly keys: KeySet,
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
    const isReady = !this.isDraining && NEEDED.every((name) => checks[name].status === 'ok');
    return { status: isReady ? 'ready' : 'not_ready', checks };
  }

  private async check(): Promise<GatewayReadiness['checks']> {
    const [database, migrations, schema, clock, issuer, queue, outbox, log] = await Promise.all([
      reachable(() => this.database.ping(), 'failed'),
      migrated(() => this.database.missingMigrations()),
      intact(() => this.database.schemaFaults()),
      inStep(() => this.database.ping()),
      this.keys.check(),
      reachable(() => this.queue.ping(), 'degraded'),
      timely('event', () => this.backlog.oldestEventMs()),
      timely('fact that is not in the published log', () => this.log.lagMs()),
    ]);
    const { replica } = this.database;
    const ofReplica = replica === null ? {} : { replica: following(replica) };
    return { database, ...ofReplica, migrations, schema, clock, issuer, queue, outbox, log };
  }
}
