import type { DeliveryStore, OutboxStore } from '@iss/persistence';
import type { Logger } from '@iss/platform';
import { rarely } from '@iss/queue';
import type { Dispatcher } from '../delivery/dispatcher';
import type { FanoutService } from '../fanout/fanout.service';

/** The queue wakes sooner than that, so that what has waited longer was not woken. */
const OVERDUE_MS = 2_000;
const MAX_EVENTS = 200;
const MAX_DELIVERIES = 1_000;
/** Pause after a sweep that left something: it found as much as it looks for, or passed over what has a backlog here. */
const BUSY_PAUSE_MS = 100;
const WARNING_PERIOD_MS = 10_000;

export interface SweepParts {
  outbox: OutboxStore;
  deliveries: DeliveryStore;
  fanout: FanoutService;
  dispatcher: Dispatcher;
  logger: Logger;
  intervalMs: number;
}

/**
 * Finds what a crash or a lost queue left behind, in PostgreSQL, and does it here: events that were not fanned out,
 * deliveries that are due and that nobody works on. Any number of workers may sweep at once.
 */
export class SweepService {
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();
  private isStopped = false;
  private readonly warn: (message: string, error: unknown) => void;

  constructor(private readonly parts: SweepParts) {
    this.warn = rarely(WARNING_PERIOD_MS, (message, error) => parts.logger.warn({ err: error }, message));
  }

  /** Sweeps from now on, again and again. */
  start(): void {
    this.schedule(0);
  }

  /** Resolves when the sweep that runs has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.sweeping;
  }

  private schedule(pauseMs: number): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.sweeping = this.sweep().then((pause) => this.schedule(pause));
    }, pauseMs);
  }

  /** Resolves with the pause until the next one. */
  private async sweep(): Promise<number> {
    const { outbox, deliveries, fanout, dispatcher, intervalMs } = this.parts;
    // Several workers don't sweep in step.
    const pauseMs = intervalMs * (0.75 + 0.5 * Math.random());
    try {
      const eventIds = await outbox.waiting(OVERDUE_MS, MAX_EVENTS);
      await fanout.fanOut(eventIds);
      const backlogged = dispatcher.backlogged();
      const overdue = await deliveries.overdue(OVERDUE_MS, MAX_DELIVERIES, backlogged);
      dispatcher.offer(overdue);
      const isMore = eventIds.length === MAX_EVENTS || overdue.length === MAX_DELIVERIES || backlogged.length > 0;
      return isMore ? Math.min(BUSY_PAUSE_MS, pauseMs) : pauseMs;
    } catch (error) {
      this.warn('The sweep failed; it is repeated', error);
      return pauseMs;
    }
  }
}
