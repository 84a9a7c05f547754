import { IdempotencyStore, type PagePosition, RetentionStore } from '@iss/persistence';
import { LOGGER, type Logger } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as wait } from 'node:timers/promises';
import { addJitter, Rounds } from '../rounds';
import { SETTINGS, type WorkerSettings } from '../settings';

/** Short statements release their locks immediately, and leave the disk to others in between. */
const BATCH = 500;
const BATCH_PAUSE_MS = 50;
const INTERVAL_MS = 60_000;

/** Deletes rows whose retention has ended. Any number of workers may do so at once. */
@Injectable()
export class RetentionService {
  private readonly rounds: Rounds;

  constructor(
    @Inject(RetentionStore) private readonly retention: Pick<RetentionStore, keyof RetentionStore>,
    @Inject(IdempotencyStore) private readonly idempotency: Pick<IdempotencyStore, 'deleteExpired'>,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'retentionDays'>,
  ) {
    const pauseMs = addJitter(INTERVAL_MS);
    const work = (): Promise<void> => this.deleteAll();
    this.rounds = new Rounds({ work, pauseMs, failure: 'Old rows could not be deleted; retrying', logger });
  }

  start(): void {
    this.rounds.start();
  }

  /** Resolves when the current batch has ended. */
  stop(): Promise<void> {
    return this.rounds.stop();
  }

  private async deleteAll(): Promise<void> {
    const { retention, idempotency, logger } = this;
    const days = this.settings.retentionDays;
    const deleted = {
      deliveries: days === 0 ? 0 : await this.inBatches(() => retention.deleteDeliveries(days, BATCH)),
      // Events are deleted after the deliveries that refer to them.
      events: days === 0 ? 0 : await this.deleteEvents(days),
      idempotency_keys: await this.inBatches(() => idempotency.deleteExpired(BATCH)),
      rate_windows: await this.inBatches(() => retention.deleteRateWindows(BATCH)),
      credential_offers: await this.inBatches(() => retention.deleteOffers(BATCH)),
      presentation_requests: await this.inBatches(() => retention.deletePresentationRequests(BATCH)),
    };
    if (Object.values(deleted).some((count) => count > 0)) logger.info({ deleted }, 'Deleted old rows');
  }

  private async inBatches(deleteBatch: () => Promise<number>): Promise<number> {
    let total = 0;
    await this.rounds.repeat(async () => {
      const deleted = await deleteBatch();
      total += deleted;
      const isMore = deleted === BATCH;
      if (isMore) await wait(BATCH_PAUSE_MS);
      return isMore;
    });
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
    } while (after !== null && !this.rounds.isStopping);
    return total;
  }
}
