import { GrantEndStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS, type WorkerSettings } from '../settings';
import { jittered, Rounds } from '../sweep/rounds';

/** Grants of one transaction. */
const BATCH = 500;

/** Tells both sides of a grant that its end is near, and that it has come. Any number of workers may. */
@Injectable()
export class GrantEndsService {
  private readonly rounds = new Rounds(() => this.round());
  private isStopping = false;
  private readonly warn: Warn;

  constructor(
    @Inject(GrantEndStore) private readonly ends: Pick<GrantEndStore, 'tellExpiring' | 'tellExpired'>,
    @Inject(EventQueue) private readonly queue: Pick<EventQueue, 'wakeFanout'>,
    @Inject(LOGGER) logger: Logger,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'sweepIntervalMs'>,
  ) {
    this.warn = rarely(warnTo(logger));
  }

  /** Tells from now on, again and again. */
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
      for (const tell of [() => this.ends.tellExpiring(BATCH), () => this.ends.tellExpired(BATCH)]) {
        for (let isMore = true; isMore && !this.isStopping;) {
          const told = await tell();
          ({ isMore } = told);
          // Without the queue the sweep finds them.
          await this.queue.wakeFanout(told.eventIds).catch(() => undefined);
        }
      }
    } catch (error) {
      this.warn('The ends of grants cannot be told of; it is tried again', error);
    }
    return jittered(this.settings.sweepIntervalMs);
  }
}
