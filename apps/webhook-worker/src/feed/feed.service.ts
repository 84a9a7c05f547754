import { FeedIntegrationStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';

/** Takes what the log has integrated into the feeds of those whom it concerns. Any number of workers may. */
@Injectable()
export class FeedService {
  private isStopping = false;
  /** Runs beside the log and the feeds, since it may take minutes. */
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
   * Resolves when the feeds have all of the log, or another worker fills them. Starts to copy older entries for grants on all
   * subjects, and does not wait for that. Never rejects: the next call tries again.
   */
  async catchUp(): Promise<void> {
    try {
      for (let isMore = true; isMore && !this.isStopping;) {
        const step = await this.feeds.feed();
        isMore = step?.isMore ?? false;
        // Without the queue the sweep finds them.
        await this.queue.wakeFanout(step?.eventIds ?? []).catch(() => undefined);
      }
    } catch (error) {
      this.warn('The change feeds do not go on; it is tried again', error);
    }
    this.copying ??= this.copyAll().finally(() => (this.copying = null));
  }

  /** Ends all work after its current batch. Resolves when nothing is being copied any more. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.copying;
  }

  private async copyAll(): Promise<void> {
    try {
      for (let isMore = true; isMore && !this.isStopping;) isMore = await this.feeds.copy();
    } catch (error) {
      this.warn('Older entries are not copied into the feeds; it is tried again', error);
    }
  }
}
