import { LogCheckpointStore, LogIntegrationStore, type LogTree, LogTileStore } from '@iss/persistence';
import { type Check, LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { FeedService } from '../feed/feed.service';
import { SETTINGS, type WorkerSettings } from '../settings';
import { Rounds } from '../sweep/rounds';
import { CheckpointPublisher, LogOriginEnded, LogRolledBack } from './checkpoint-publisher';
import { LOG_IDENTITY, type LogIdentity } from './log-identity';
import { LogMetrics } from './log-metrics';
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
    detail: 'nothing is signed: set LOG_ORIGIN and LOG_SIGNING_KEY (docs/operations/log.md, "The transparency log")',
  },
  no_quorum: {
    status: 'degraded',
    reason: 'no_quorum',
    detail:
      'too few witnesses cosign: the last checkpoint that enough of them cosigned is served (docs/operations/log.md, "Witnesses")',
  },
  backfill: {
    status: 'degraded',
    reason: 'backfill',
    detail: 'what is older than the log waits for npm run db:migrate to end; until then nothing is integrated',
  },
  behind: { status: 'degraded', reason: 'behind', detail: 'the last round failed; it is tried again' },
  rolled_back: {
    status: 'failed',
    reason: 'rolled_back',
    detail:
      'the database is not the one that was signed; nothing is signed (docs/operations/log.md, "The transparency log")',
  },
  origin_ended: {
    status: 'failed',
    reason: 'origin_ended',
    detail:
      'the log was begun anew under another LOG_ORIGIN; nothing is signed (docs/operations/log.md, "A new origin")',
  },
} as const satisfies Record<string, Check>;
type LogState = keyof typeof STATES;

/** Makes entries of facts and publishes checkpoints, again and again. Any number of workers may. */
@Injectable()
export class LogService {
  private readonly rounds = new Rounds(() => this.round());
  private readonly warn: Warn;
  private publisher: CheckpointPublisher | null = null;
  /** Witnesses may take their time, integration goes on meanwhile. */
  private publishing: Promise<void> | null = null;
  private integrated: 'ok' | 'backfill' | 'behind' = 'ok';
  private published: LogState = 'ok';
  private isStopping = false;

  constructor(
    private readonly integration: LogIntegrationStore,
    private readonly checkpoints: LogCheckpointStore,
    private readonly tiles: LogTileStore,
    private readonly metrics: LogMetrics,
    @Inject(FeedService) private readonly feed: Pick<FeedService, 'catchUp' | 'stop'>,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'log'>,
    @Inject(LOG_IDENTITY) private readonly identity: LogIdentity | null,
  ) {
    this.warn = rarely(warnTo(logger));
  }

  /** Integrates from now on. */
  start(): void {
    this.rounds.start();
  }

  /** Resolves when the round that runs has ended. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.feed.stop();
    this.publisher?.close();
    await this.rounds.stop();
    await this.publishing;
  }

  /** For readiness. */
  status(): Check {
    const { integrated, published } = this;
    return STATES[integrated === 'ok' || STATES[published].status === 'failed' ? published : integrated];
  }

  /** Resolves with the pause until the next one. */
  private async round(): Promise<number> {
    try {
      const tree = await this.integrateAll();
      if (tree !== null) this.publishing ??= this.publish(tree).finally(() => (this.publishing = null));
    } catch (error) {
      this.integrated = 'behind';
      this.warn('The log does not go on; it is tried again', error);
    }
    await this.feed.catchUp();
    return this.settings.log.checkpointIntervalMs;
  }

  /** The tree when nothing waits any more; null while another worker integrates, and while integration is held. */
  private async integrateAll(): Promise<LogTree | null> {
    for (;;) {
      const round = await this.integration.integrate(BATCH, growTree);
      this.integrated = round?.isHeld === true ? 'backfill' : 'ok';
      if (round === null || round.isHeld) return null;
      if (round.dropped > 0) this.logger.error({ marks: round.dropped }, 'Facts are gone that were to be logged');
      if (round.integrated + round.dropped < BATCH || this.isStopping) return round.tree;
    }
  }

  private async publish(tree: LogTree): Promise<void> {
    const before = this.published;
    const after = await this.publishOrSayWhy(tree);
    // Witnesses were broken off: that says nothing of them.
    if (this.isStopping) return;
    this.published = after;
    this.metrics.quorum(this.published !== 'no_quorum');
    if (this.published === 'no_quorum' && before !== 'no_quorum')
      this.logger.warn('Too few witnesses cosign: the last checkpoint that enough of them cosigned is served');
    if (before === 'no_quorum' && this.published === 'ok') this.logger.info('Enough witnesses cosign again');
  }

  private async publishOrSayWhy(tree: LogTree): Promise<LogState> {
    if (this.identity === null) return 'unsigned';
    try {
      this.publisher ??= await this.open(this.identity);
      if (this.isStopping) return this.published;
      const isPublished = await this.publisher.publish(tree);
      if (isPublished) await this.checkpoints.thin(THIN_BATCH);
      return isPublished ? 'ok' : 'no_quorum';
    } catch (error) {
      const why =
        error instanceof LogRolledBack ? 'rolled_back' : error instanceof LogOriginEnded ? 'origin_ended' : null;
      if (why === null) {
        this.warn('The log does not go on; it is tried again', error);
        return 'behind';
      }
      if (this.published !== why) this.logger.error({ err: error }, 'The log signs nothing any more');
      return why;
    }
  }

  private open(identity: LogIdentity): Promise<CheckpointPublisher> {
    const { integration, checkpoints, tiles } = this;
    return CheckpointPublisher.open(
      identity,
      this.settings.log,
      { integration, checkpoints, tiles },
      (witness, answer) => this.metrics.witness(witness, answer),
      this.warn,
    );
  }
}
