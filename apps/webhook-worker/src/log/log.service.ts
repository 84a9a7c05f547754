import { LogCheckpointStore, LogIntegrationStore, type LogTree, LogTileStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS, type WorkerSettings } from '../settings';
import { Rounds } from '../sweep/rounds';
import { CheckpointPublisher, LogRolledBack } from './checkpoint-publisher';
import { growTree } from './grow-tree';

/** Entries of one transaction: some ten milliseconds, so that nobody waits long for the tree. */
const BATCH = 2_000;
/** Checkpoints deleted at once. */
const THIN_BATCH = 500;

/** How the log is: whether what is committed is integrated, signed and published. */
export type LogStatus =
  | { status: 'ok' }
  | { status: 'degraded'; reason: 'unsigned' | 'behind' }
  | { status: 'failed'; reason: 'rolled_back' };

/** Makes entries of facts and publishes checkpoints, again and again. Any number of workers may. */
@Injectable()
export class LogService {
  private readonly rounds = new Rounds(() => this.round());
  private readonly warn: Warn;
  private publisher: Promise<CheckpointPublisher> | null = null;
  private state: LogStatus = { status: 'ok' };
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

  status(): LogStatus {
    return this.state;
  }

  /** Resolves with the pause until the next one. */
  private async round(): Promise<number> {
    try {
      const tree = await this.integrateAll();
      if (tree !== null) this.state = await this.publish(tree);
    } catch (error) {
      if (error instanceof LogRolledBack) {
        if (this.state.status !== 'failed') this.logger.error({ err: error }, 'The log signs nothing any more');
        this.state = { status: 'failed', reason: 'rolled_back' };
      } else {
        this.state = { status: 'degraded', reason: 'behind' };
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

  private async publish(tree: LogTree): Promise<LogStatus> {
    const { log } = this.settings;
    if (log.signingKeys.length === 0) return { status: 'degraded', reason: 'unsigned' };
    this.publisher ??= CheckpointPublisher.open(log, this.checkpoints, this.tiles);
    const publisher = await this.publisher.catch((error: unknown) => {
      this.publisher = null;
      throw error;
    });
    if (await publisher.publish(tree)) await this.checkpoints.thin(THIN_BATCH);
    return { status: 'ok' };
  }
}
