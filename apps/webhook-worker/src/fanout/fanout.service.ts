import type { OutboxStore, PendingDelivery } from '@iss/persistence';
import { type EventQueue, MAX_IDS_PER_JOB } from '@iss/queue';
import type { Dispatcher } from '../delivery/dispatcher';
import type { WorkWatch } from '../health/liveness';

/** Deliveries that one statement makes; events beyond wait for the next. */
const MAX_DELIVERIES_PER_STATEMENT = 5_000;

/** Makes the deliveries of events and sees that somebody takes them up. */
export class FanoutService {
  constructor(
    private readonly outbox: OutboxStore,
    private readonly queue: Pick<EventQueue, 'wakeDelivery'>,
    private readonly dispatcher: Pick<Dispatcher, 'offer'>,
    private readonly watch: Pick<WorkWatch, 'moved'>,
  ) {}

  /** Fans these events (bare UUIDs) out, each once however often it is asked for. */
  async fanOut(eventIds: readonly string[]): Promise<void> {
    for (let left = eventIds.length; left > 0;) {
      const made = await this.outbox.fanOut(eventIds, MAX_DELIVERIES_PER_STATEMENT);
      this.watch.moved();
      left = made.left;
      await this.share(made.pending);
    }
  }

  /** A few deliveries are made here, at once; what a large fan-out has beyond goes to all workers. */
  private async share(deliveries: readonly PendingDelivery[]): Promise<void> {
    this.dispatcher.offer(deliveries.slice(0, MAX_IDS_PER_JOB));
    const others = deliveries.slice(MAX_IDS_PER_JOB);
    // Without the queue this worker does what it can; the sweeps find the rest.
    await this.queue.wakeDelivery(others).catch(() => this.dispatcher.offer(others));
  }
}
