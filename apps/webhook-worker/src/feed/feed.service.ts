import { FeedIntegrationStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';

/** Takes what the log has integrated into the feeds of those whom it concerns. Any number of workers may. */
@Injectable()
export class FeedService {
  private isStopping = false;
  private readonly warn: Warn;

  constructor(
    @Inject(FeedIntegrationStore) private readonly feeds: Pick<FeedIntegrationStore, 'feed'>,
    @Inject(EventQueue) private readonly queue: Pick<EventQueue, 'wakeFanout'>,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.warn = rarely(warnTo(logger));
  }

  /** Resolves when the feeds have all of the log, or another worker goes on with them. Never rejects: it is asked again. */
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
  }

  /** What runs ends with the batch that it is at. */
  stop(): void {
    this.isStopping = true;
  }
}
