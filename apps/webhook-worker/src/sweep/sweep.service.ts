import { DeliveryStore, OutboxStore, type PagePosition } from '@iss/persistence';
import { LOGGER, type Logger } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { Dispatcher } from '../delivery/dispatcher';
import { FanoutService } from '../fanout/fanout.service';
import { WorkerMetrics } from '../health/worker-metrics';
import { addJitter, Rounds } from '../rounds';
import { SETTINGS, type WorkerSettings } from '../settings';

/**
 * The age of work from which the sweep takes it. The queue usually wakes the worker sooner, so older work lost its
 * wake-up or waits behind much other work. Events are swept early, because the sweep takes turns between founders and
 * the queue does not.
 */
const EVENTS = { overdueMs: 500, rows: 5_000, limit: 200 };
const DELIVERIES = { overdueMs: 2_000, rows: 5_000, limit: 1_000 };
/** Pause after an incomplete sweep: there is more than it examines, or it found events and may find others. */
const BUSY_PAUSE_MS = 100;

/**
 * Finds work in PostgreSQL that a crash or a lost queue left behind, and does it here: events without fan-out, and due
 * deliveries that nobody handles. Any number of workers may sweep at once.
 */
@Injectable()
export class SweepService {
  private readonly rounds: Rounds;
  /** Each sweep continues where the previous one ended, so that a backlog at the front hides nothing behind it. */
  private afterEvent: PagePosition | null = null;
  private afterDelivery: PagePosition | null = null;

  constructor(
    @Inject(OutboxStore) private readonly outbox: Pick<OutboxStore, 'waiting'>,
    @Inject(DeliveryStore) private readonly deliveries: Pick<DeliveryStore, 'overdue'>,
    @Inject(FanoutService) private readonly fanout: Pick<FanoutService, 'step'>,
    @Inject(Dispatcher) private readonly dispatcher: Pick<Dispatcher, 'offer'>,
    @Inject(LOGGER) logger: Logger,
    @Inject(SETTINGS) { sweepIntervalMs }: Pick<WorkerSettings, 'sweepIntervalMs'>,
    @Inject(WorkerMetrics) private readonly metrics: Pick<WorkerMetrics, 'sweepEnded'>,
  ) {
    const pauseMs = addJitter(sweepIntervalMs);
    const work = async (): Promise<number> => ((await this.sweep()) ? Math.min(BUSY_PAUSE_MS, pauseMs) : pauseMs);
    this.rounds = new Rounds({ work, pauseMs, failure: 'The sweep failed; retrying', logger });
  }

  start(): void {
    this.rounds.start();
  }

  /** Resolves when the current sweep has ended. */
  stop(): Promise<void> {
    return this.rounds.stop();
  }

  /** Returns whether there may be more. */
  private async sweep(): Promise<boolean> {
    const isMore = [await this.sweepEvents(), await this.sweepDeliveries()].includes(true);
    this.metrics.sweepEnded();
    return isMore;
  }

  private async sweepEvents(): Promise<boolean> {
    const isRound = this.afterEvent !== null;
    const { items, next } = await this.outbox.waiting({ ...EVENTS, after: this.afterEvent });
    this.afterEvent = next;
    await this.fanout.step(items);
    return items.length > 0 || isRound;
  }

  private async sweepDeliveries(): Promise<boolean> {
    const isRound = this.afterDelivery !== null;
    const { items, next } = await this.deliveries.overdue({ ...DELIVERIES, after: this.afterDelivery });
    this.afterDelivery = next;
    this.dispatcher.offer(items);
    return next !== null || isRound || items.length === DELIVERIES.limit;
  }
}
