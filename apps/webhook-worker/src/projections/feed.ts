import { FeedIntegrationStore } from '@iss/persistence';
import { LOGGER, type Logger } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { Rounds } from '../rounds';
import { SETTINGS, type WorkerSettings } from '../settings';

/** Copies integrated log entries into the feeds of the tenants concerned. Any number of workers may do so. */
@Injectable()
export class FeedProjection {
  private readonly feeding: Rounds;
  /** Copies older entries for grants on all subjects. Runs concurrently, because it may take minutes. */
  private readonly copying: Rounds;

  constructor(
    @Inject(FeedIntegrationStore) feeds: Pick<FeedIntegrationStore, 'feed' | 'copy'>,
    @Inject(LOGGER) logger: Logger,
    @Inject(SETTINGS) { log }: { log: Pick<WorkerSettings['log'], 'checkpointIntervalMs'> },
  ) {
    const pauseMs = log.checkpointIntervalMs;
    this.feeding = new Rounds({
      work: (rounds) => rounds.repeat(async () => (await feeds.feed())?.isMore ?? false),
      failure: 'Updating the change feeds failed; retrying',
      ...{ pauseMs, logger },
    });
    this.copying = new Rounds({
      work: (rounds) => rounds.repeat(() => feeds.copy()),
      failure: 'Copying older entries into the change feeds failed; retrying',
      ...{ pauseMs, logger },
    });
  }

  start(): void {
    this.feeding.start();
    this.copying.start();
  }

  /** Looks for entries now. Without this call, it looks for entries at its own interval. */
  wake(): void {
    this.feeding.wake();
  }

  /** Resolves when the current batches have ended. */
  async stop(): Promise<void> {
    await Promise.all([this.feeding.stop(), this.copying.stop()]);
  }
}
