import { FeedIntegrationStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';

/** Copies integrated log entries into the feeds of the tenants concerned. Any number of workers may do so. */
@Injectable()
export class FeedService {
  private isStopping = false;
  /** Runs concurrently with the log and the feeds, because it may take minutes. */
  private copying: Promise<void> | null = null;
  private readonly warn: Warn;

  constructor(
    @Inject(FeedIntegrationStore) private readonly feeds: Pick<FeedIntegrationStore, 'feed' | 'copy'>,
    @Inject(EventQueue) private readonly queue: Pick<EventQueue, 'wakeFanout'>,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.warn = rarely(warnTo(logger));
  }

  /**
   * Resolves when the feeds contain the whole log, or when another worker fills them. Starts to copy older entries for
   * grants on all subjects, without waiting for that. Never rejects: the next call tries again.
   */
  async catchUp(): Promise<void> {
    try {
      for (let isMore = true; isMore && !this.isStopping;) {
        const step = await this.feeds.feed();
        isMore = step?.isMore ?? false;
        // Without the queue, the sweep finds these events.
        await this.queue.wakeFanout(step?.eventIds ?? []).catch(() => undefined);
      }
    } catch (error) {
      this.warn('Updating the change feeds failed; retrying', error);
    }
    this.copying ??= this.copyAll().finally(() => (this.copying = null));
  }

  /** Ends all work after the current batch. Resolves when no copy runs any more. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.copying;
  }

  private async copyAll(): Promise<void> {
    try {
      for (let isMore = true; isMore && !this.isStopping;) isMore = await this.feeds.copy();
    } catch (error) {
      this.warn('Copying older entries into the change feeds failed; retrying', error);
    }
  }
}
