import { LogCheckpointStore, LogIntegrationStore, type LogTree, LogTileStore } from '@iss/persistence';
import { type Check, LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS, type WorkerSettings } from '../settings';
import { Rounds } from '../sweep/rounds';
import { CheckpointPublisher, LogRolledBack } from './checkpoint-publisher';
import { growTree } from './grow-tree';

/** Entries of one transaction: some ten milliseconds, so that nobody waits long for the tree. */
const BATCH = 2_000;
/** Checkpoints deleted at once. */
const THIN_BATCH = 500;

/** How the log is: whether what is committed is integrated, signed and published; and what to do where it is not. */
const STATES = {
  ok: { status: 'ok' },
  unsigned: {
    status: 'degraded',
    reason: 'unsigned',
    detail: 'nothing is signed: set LOG_ORIGIN and LOG_SIGNING_KEY (docs/operations.md, "The transparency log")',
  },
  behind: { status: 'degraded', reason: 'behind', detail: 'the last round failed; it is tried again' },
  rolled_back: {
    status: 'failed',
    reason: 'rolled_back',
    detail:
      'the database is not the one that was signed; nothing is signed (docs/operations.md, "The transparency log")',
  },
} as const satisfies Record<string, Check>;
type LogState = keyof typeof STATES;

/** Makes entries of facts and publishes checkpoints, again and again. Any number of workers may. */
@Injectable()
export class LogService {
  private readonly rounds = new Rounds(() => this.round());
  private readonly warn: Warn;
  private publisher: Promise<CheckpointPublisher> | null = null;
  private state: LogState = 'ok';
  private isStopping = false;

  constructor(
    private readonly integration: LogIntegrationStore,
    private readonly checkpoints: LogCheckpointStore,
    private readonly tiles: LogTileStore,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'log'>,
  ) {
    this.warn = rarely(warnTo(logger));
  }

  /** Integrates from now on. */
  start(): void {
    this.rounds.start();
  }

  /** Resolves when the round that runs has ended. */
  stop(): Promise<void> {
    this.isStopping = true;
    return this.rounds.stop();
  }

  /** For readiness. */
  status(): Check {
    return STATES[this.state];
  }

  /** Resolves with the pause until the next one. */
  private async round(): Promise<number> {
    try {
      const tree = await this.integrateAll();
      if (tree !== null) this.state = await this.publish(tree);
    } catch (error) {
      if (error instanceof LogRolledBack) {
        if (this.state !== 'rolled_back') this.logger.error({ err: error }, 'The log signs nothing any more');
        this.state = 'rolled_back';
      } else {
        this.state = 'behind';
        this.warn('The log does not go on; it is tried again', error);
      }
    }
    return this.settings.log.checkpointIntervalMs;
  }

  /** The tree when nothing waits any more; null while another worker integrates. */
  private async integrateAll(): Promise<LogTree | null> {
    for (;;) {
      const round = await this.integration.integrate(BATCH, growTree);
      if (round === null) return null;
      if (round.dropped > 0) this.logger.error({ marks: round.dropped }, 'Facts are gone that were to be logged');
      if (round.integrated + round.dropped < BATCH || this.isStopping) return round.tree;
    }
  }

  private async publish(tree: LogTree): Promise<LogState> {
    const { log } = this.settings;
    if (log.signingKeys.length === 0) return 'unsigned';
    this.publisher ??= CheckpointPublisher.open(log, this.checkpoints, this.tiles);
    const publisher = await this.publisher.catch((error: unknown) => {
      this.publisher = null;
      throw error;
    });
    if (await publisher.publish(tree)) await this.checkpoints.thin(THIN_BATCH);
    return 'ok';
  }
}
