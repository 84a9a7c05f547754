import { OutboxStore, type PendingDelivery } from '@iss/persistence';
import { EventQueue, MAX_IDS_PER_JOB } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { Dispatcher } from '../delivery/dispatcher';
import { Liveness, type WorkWatch } from '../health/liveness';

/** Deliveries of an event that are made first: few, so that they are under way while the others are being made. */
const FIRST_STEP = 16;
/** Deliveries that a later step makes, of all its events together. */
const NEXT_STEP = 256;
/** Between two steps of an event: it need not outrun its deliveries, and others use the database meanwhile. */
const STEP_PAUSE_MS = 20;

/**
 * Makes the deliveries of events and sees that somebody takes them up. An event to many subscriptions takes several
 * steps; between two of them it goes back into the queue, behind the events of others, for any worker to go on with.
 */
@Injectable()
export class FanoutService {
  constructor(
    @Inject(OutboxStore) private readonly outbox: Pick<OutboxStore, 'fanOut'>,
    @Inject(EventQueue) private readonly queue: Pick<EventQueue, 'wakeFanout' | 'wakeDelivery'>,
    @Inject(Dispatcher) private readonly dispatcher: Pick<Dispatcher, 'offer'>,
    @Inject(Liveness) private readonly liveness: { readonly events: Pick<WorkWatch, 'moved'> },
  ) {}

  /** Takes the next step of each of these events (bare UUIDs) that are not done, and asks for the one after it. */
  async fanOut(eventIds: readonly string[]): Promise<void> {
    const unfinished = await this.step(eventIds);
    // Without the queue the sweep takes the steps.
    if (unfinished.length > 0) await this.queue.wakeFanout(unfinished, STEP_PAUSE_MS).catch(() => undefined);
  }

  /** Takes the next step of each of these events alone; answers those that need another. */
  async step(eventIds: readonly string[]): Promise<readonly string[]> {
    if (eventIds.length === 0) return [];
    const next = Math.max(FIRST_STEP, Math.floor(NEXT_STEP / eventIds.length));
    const { pending, unfinished } = await this.outbox.fanOut(eventIds, { first: FIRST_STEP, next });
    this.liveness.events.moved();
    await this.share(pending);
    return unfinished;
  }

  /** A few deliveries are made here, at once; what a step has beyond goes to all workers. */
  private async share(deliveries: readonly PendingDelivery[]): Promise<void> {
    this.dispatcher.offer(deliveries.slice(0, MAX_IDS_PER_JOB));
    const others = deliveries.slice(MAX_IDS_PER_JOB);
    // Without the queue this worker does what it can; the sweeps find the rest.
    await this.queue.wakeDelivery(others).catch(() => this.dispatcher.offer(others));
  }
}
