import { DeliveryStore, OutboxStore, type PagePosition } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { Dispatcher } from '../delivery/dispatcher';
import { FanoutService } from '../fanout/fanout.service';
import { SETTINGS, type WorkerSettings } from '../settings';
import { jittered, Rounds } from './rounds';

/** The queue wakes sooner than that, so that what has waited longer was not woken. */
const OVERDUE_MS = 2_000;
const MAX_EVENTS = 200;
const MAX_DELIVERIES = 1_000;
/** Pause after a sweep that left something: it found as much as it looks for, or passed over what has a backlog here. */
const BUSY_PAUSE_MS = 100;

/**
 * Finds what a crash or a lost queue left behind, in PostgreSQL, and does it here: events that were not fanned out,
 * deliveries that are due and that nobody works on. Any number of workers may sweep at once.
 */
@Injectable()
export class SweepService {
  private readonly rounds = new Rounds(() => this.sweep());
  /** Each sweep goes on where the one before it ended, so that a backlog at the front hides nobody behind it. */
  private after: PagePosition | null = null;
  private readonly warn: Warn;

  constructor(
    @Inject(OutboxStore) private readonly outbox: Pick<OutboxStore, 'waiting'>,
    @Inject(DeliveryStore) private readonly deliveries: Pick<DeliveryStore, 'overdue'>,
    @Inject(FanoutService) private readonly fanout: Pick<FanoutService, 'fanOut'>,
    @Inject(Dispatcher) private readonly dispatcher: Pick<Dispatcher, 'backlogged' | 'offer'>,
    @Inject(LOGGER) logger: Logger,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'sweepIntervalMs'>,
  ) {
    this.warn = rarely(warnTo(logger));
  }

  /** Sweeps from now on, again and again. */
  start(): void {
    this.rounds.start();
  }

  /** Resolves when the sweep that runs has ended. */
  stop(): Promise<void> {
    return this.rounds.stop();
  }

  /** Resolves with the pause until the next one. */
  private async sweep(): Promise<number> {
    const pauseMs = jittered(this.settings.sweepIntervalMs);
    try {
      const eventIds = await this.outbox.waiting(OVERDUE_MS, MAX_EVENTS);
      await this.fanout.fanOut(eventIds);
      const backlogged = this.dispatcher.backlogged();
      const overdue = await this.deliveries.overdue(
        OVERDUE_MS,
        { limit: MAX_DELIVERIES, after: this.after },
        backlogged,
      );
      this.dispatcher.offer(overdue.items);
      const isMore = eventIds.length === MAX_EVENTS || overdue.next !== null || this.after !== null;
      this.after = overdue.next;
      return isMore || backlogged.length > 0 ? Math.min(BUSY_PAUSE_MS, pauseMs) : pauseMs;
    } catch (error) {
      this.warn('The sweep failed; it is repeated', error);
      return pauseMs;
    }
  }
}
