import { IdempotencyStore, type PagePosition, RetentionStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as wait } from 'node:timers/promises';
import { SETTINGS, type WorkerSettings } from '../settings';
import { jittered, Rounds } from './rounds';

/** Short statements: what they lock is free again at once, and the disk has time for others in between. */
const BATCH = 500;
const BATCH_PAUSE_MS = 50;
const INTERVAL_MS = 60_000;

/** Deletes what has been kept for long enough. Any number of workers may do so at once. */
@Injectable()
export class RetentionService {
  private readonly rounds = new Rounds(() => this.round());
  private isStopping = false;
  private readonly warn: Warn;

  constructor(
    private readonly retention: RetentionStore,
    private readonly idempotency: IdempotencyStore,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
  ) {
    this.warn = rarely(warnTo(logger));
  }

  /** Deletes from now on, again and again. */
  start(): void {
    this.rounds.start();
  }

  /** Resolves when the batch that runs has ended. */
  stop(): Promise<void> {
    this.isStopping = true;
    return this.rounds.stop();
  }

  /** Resolves with the pause until the next one. */
  private async round(): Promise<number> {
    try {
      await this.deleteAll();
    } catch (error) {
      this.warn('What is too old cannot be deleted; it is tried again', error);
    }
    return jittered(INTERVAL_MS);
  }

  private async deleteAll(): Promise<void> {
    const { retention, idempotency, logger } = this;
    const days = this.settings.retentionDays;
    const deleted = {
      deliveries: days === 0 ? 0 : await this.inBatches(() => retention.deleteDeliveries(days, BATCH)),
      // After the deliveries that need them.
      events: days === 0 ? 0 : await this.deleteEvents(days),
      idempotency_keys: await this.inBatches(() => idempotency.deleteExpired(BATCH)),
      rate_windows: await this.inBatches(() => retention.deleteRateWindows(BATCH)),
    };
    if (Object.values(deleted).some((count) => count > 0)) logger.info({ deleted }, 'Deleted what was too old');
  }

  private async inBatches(deleteBatch: () => Promise<number>): Promise<number> {
    let [total, isMore] = [0, true];
    while (isMore && !this.isStopping) {
      const deleted = await deleteBatch();
      total += deleted;
      isMore = deleted === BATCH;
      if (isMore) await wait(BATCH_PAUSE_MS);
    }
    return total;
  }

  /** Walks once over all that is old enough, since some events stay there: those of which a delivery is still kept. */
  private async deleteEvents(days: number): Promise<number> {
    let total = 0;
    let after: PagePosition | null = null;
    do {
      const page = await this.retention.deleteEvents(days, { limit: BATCH, after });
      total += page.deleted;
      after = page.next;
      if (after !== null) await wait(BATCH_PAUSE_MS);
    } while (after !== null && !this.isStopping);
    return total;
  }
}
