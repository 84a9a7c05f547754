import { IdempotencyStore, type PagePosition, RetentionStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as wait } from 'node:timers/promises';
import { SETTINGS, type WorkerSettings } from '../settings';
import { jittered, Rounds } from './rounds';

/** Short statements release their locks immediately, and leave the disk to others in between. */
const BATCH = 500;
const BATCH_PAUSE_MS = 50;
const INTERVAL_MS = 60_000;

/** Deletes rows whose retention has ended. Any number of workers may do so at once. */
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

  start(): void {
    this.rounds.start();
  }

  /** Resolves when the current batch has ended. */
  stop(): Promise<void> {
    this.isStopping = true;
    return this.rounds.stop();
  }

  /** Runs one round. Returns the pause until the next one in milliseconds. */
  private async round(): Promise<number> {
    try {
      await this.deleteAll();
    } catch (error) {
      this.warn('Old rows could not be deleted; retrying', error);
    }
    return jittered(INTERVAL_MS);
  }

  private async deleteAll(): Promise<void> {
    const { retention, idempotency, logger } = this;
    const days = this.settings.retentionDays;
    const deleted = {
      deliveries: days === 0 ? 0 : await this.inBatches(() => retention.deleteDeliveries(days, BATCH)),
      // After the deliveries that refer to them.
      events: days === 0 ? 0 : await this.deleteEvents(days),
      idempotency_keys: await this.inBatches(() => idempotency.deleteExpired(BATCH)),
      rate_windows: await this.inBatches(() => retention.deleteRateWindows(BATCH)),
    };
    if (Object.values(deleted).some((count) => count > 0)) logger.info({ deleted }, 'Deleted old rows');
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

  /** Walks once over all events that are old enough. Some stay, because a delivery of them is still stored. */
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
