import { OutboxStore, type PendingDelivery } from '@iss/persistence';
import { EventQueue, MAX_IDS_PER_JOB } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { Dispatcher } from '../delivery/dispatcher';
import { Liveness, type WorkWatch } from '../health/liveness';

/** Deliveries in the first step of an event: few, so that they are sent while the others are created. */
const FIRST_STEP = 16;
/** Deliveries in a later step, for all its events together. */
const NEXT_STEP = 256;
/** Pause between two steps of an event. It need not outrun its deliveries, and others use the database meanwhile. */
const STEP_PAUSE_MS = 20;

/**
 * Creates the deliveries of events and passes them to dispatchers. An event with many subscriptions takes several
 * steps. After each step it goes back into the queue, behind other events, and any worker can continue it.
 */
@Injectable()
export class FanoutService {
  constructor(
    @Inject(OutboxStore) private readonly outbox: Pick<OutboxStore, 'fanOut'>,
    @Inject(EventQueue) private readonly queue: Pick<EventQueue, 'wakeFanout' | 'wakeDelivery'>,
    @Inject(Dispatcher) private readonly dispatcher: Pick<Dispatcher, 'offer'>,
    @Inject(Liveness) private readonly liveness: { readonly events: Pick<WorkWatch, 'moved'> },
  ) {}

  /** Takes the next step of each unfinished event (UUIDs), and queues the step after it. */
  async fanOut(eventIds: readonly string[]): Promise<void> {
    const unfinished = await this.step(eventIds);
    // Without the queue, the sweep takes the remaining steps.
    if (unfinished.length > 0) await this.queue.wakeFanout(unfinished, STEP_PAUSE_MS).catch(() => undefined);
  }

  /** Takes only the next step of each of these events. Returns the events that need another. */
  async step(eventIds: readonly string[]): Promise<readonly string[]> {
    if (eventIds.length === 0) return [];
    const next = Math.max(FIRST_STEP, Math.floor(NEXT_STEP / eventIds.length));
    const { pending, unfinished } = await this.outbox.fanOut(eventIds, { first: FIRST_STEP, next });
    this.liveness.events.moved();
    await this.share(pending);
    return unfinished;
  }

  /** Starts a few deliveries here immediately, and distributes the others to all workers. */
  private async share(deliveries: readonly PendingDelivery[]): Promise<void> {
    this.dispatcher.offer(deliveries.slice(0, MAX_IDS_PER_JOB));
    const others = deliveries.slice(MAX_IDS_PER_JOB);
    // Without the queue, this worker does what it can, and sweeps find the rest.
    await this.queue.wakeDelivery(others).catch(() => this.dispatcher.offer(others));
  }
}
