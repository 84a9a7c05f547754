import { type GrowLog, LogIntegrationStore, type LogRound, type PreparedViews } from '@iss/persistence';
import { type DependencyCheck, LOGGER, type Logger } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { growTree, growTreeAndMap, prepareKeys } from '../log/grow-tree';
import { MapBackfill } from '../log/map-backfill';
import { MAP_KEYS, type MapKeys } from '../log/map-keys';
import { type IntegrationState, LogPublication } from '../log/publication';
import { ViewMaker } from '../log/views/view-maker';
import { Rounds } from '../rounds';
import { SETTINGS, type WorkerSettings } from '../settings';
import { FeedProjection } from './feed';

/** Entries per transaction: some ten milliseconds, so that nobody waits long for the tree. */
const BATCH = 2_000;

/**
 * The number of facts that may arrive while the keys of a round are computed. Their keys take some ten milliseconds.
 */
const ARRIVING = 128;

/** Integrates facts into the log, and lets the tree be published. Any number of workers may do so. */
@Injectable()
export class LogProjection {
  private readonly rounds: Rounds;
  private integrated: IntegrationState = 'ok';
  private readonly grow: GrowLog;

  constructor(
    private readonly integration: LogIntegrationStore,
    private readonly publication: LogPublication,
    @Inject(FeedProjection) private readonly feed: Pick<FeedProjection, 'wake'>,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(SETTINGS) { log }: Pick<WorkerSettings, 'log'>,
    @Inject(MAP_KEYS) private readonly mapKeys: MapKeys | null,
    private readonly backfill: MapBackfill,
    private readonly views: ViewMaker,
  ) {
    this.grow = mapKeys === null ? growTree : growTreeAndMap(mapKeys);
    this.rounds = new Rounds({
      work: () => this.round(log.checkpointIntervalMs),
      pauseMs: log.checkpointIntervalMs,
      failure: 'Log integration failed; retrying',
      logger,
    });
  }

  start(): void {
    this.rounds.start();
  }

  /** Resolves when the current round has ended. */
  async stop(): Promise<void> {
    await Promise.all([this.rounds.stop(), this.publication.stop()]);
    await this.views.close();
  }

  /** Returns the state for readiness. */
  status(): DependencyCheck {
    return this.publication.status(this.integrated);
  }

  /** Integrates and publishes new facts. Until the next round is due, gives keys to older entries. Returns 0 while some lack keys. */
  private async round(pauseMs: number): Promise<number | void> {
    try {
      const round = await this.integrateAll();
      if (round?.isWhole === true) this.publication.publish(round);
      if (await this.backfill.work(pauseMs, () => this.rounds.isStopping)) return 0;
    } catch (error) {
      this.integrated = 'behind';
      throw error;
    }
  }

  /**
   * Integrates until nothing waits, and returns the last round. Returns null while another worker integrates, or while
   * integration is on hold.
   */
  private async integrateAll(): Promise<LogRound | null> {
    for (;;) {
      const limit = await this.prepare();
      const views = await this.prepareViews(limit);
      const round = await this.integration.integrate(limit, this.grow, this.mapKeys, views);
      // While another worker integrates, nothing is known: that worker may fail too.
      if (round === null) return null;
      this.integrated = stateOf(round, this.mapKeys);
      if (round.awaitsBackfill || round.refusal !== null) return null;
      if (round.integrated > 0) this.feed.wake();
      if (round.dropped > 0) this.logger.error({ marks: round.dropped }, 'Facts that had to be logged are missing');
      if (!round.isMore || this.rounds.isStopping) return round;
    }
  }

  /**
   * Prepares the keys of the next round. Returns how many facts the round may take, so that it has to compute few
   * further keys.
   */
  private async prepare(): Promise<number> {
    if (this.mapKeys === null) return BATCH;
    return ARRIVING + (await prepareKeys(this.integration, BATCH, this.mapKeys));
  }

  private async prepareViews(limit: number): Promise<PreparedViews> {
    const views = await this.views.prepare(limit);
    if (views.unfit.size > 0)
      this.logger.warn({ snapshotIds: [...views.unfit] }, 'Versions get no view: their texts are not envelopes');
    return views;
  }
}

function stateOf({ awaitsBackfill, refusal, hasMap }: LogRound, mapKeys: MapKeys | null): IntegrationState {
  if (awaitsBackfill) return 'backfill';
  return refusal ?? (mapKeys === null || hasMap ? 'ok' : 'map_backfill');
}
