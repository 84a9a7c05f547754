import { rarely, type Warn } from '@iss/platform';
import type { DeliveryRef, EventQueue } from '@iss/queue';
import { Injectable } from '@nestjs/common';

/** How many events may wait for the queue. The worker's sweep finds those beyond. */
const MAX_WAITING = 10_000;
const MAX_IDS_PER_FLUSH = 500;

/**
 * Wakes the worker for committed events. They are already in the outbox, so no call has to succeed: the worker's sweep
 * finds events for which it was not woken.
 */
@Injectable()
export class EventHandOver {
  private waiting: string[] = [];
  private flushing: Promise<void> | undefined;
  private readonly waking = new Set<Promise<void>>();
  private readonly warn: Warn;

  constructor(
    private readonly queue: Pick<EventQueue, 'wakeFanout' | 'wakeDelivery'>,
    warn: Warn,
  ) {
    this.warn = rarely(warn);
  }

  /** Announces events by their UUIDs. Call it after the commit. Never throws and never delays its caller. */
  announce(eventIds: readonly string[]): void {
    if (this.waiting.length + eventIds.length > MAX_WAITING) {
      this.warn('Too many events wait for the queue; the sweep will deliver them');
      return;
    }
    this.waiting.push(...eventIds);
    // Deferred, so that the events of one turn of the event loop share a round trip.
    this.flushing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.flush());
  }

  /** Wakes the worker for deliveries that are due without a fan-out. Never throws. */
  wake(deliveries: readonly DeliveryRef[]): void {
    const waking = this.queue
      .wakeDelivery(deliveries)
      .catch((error: unknown) => this.warn('The queue does not accept deliveries; the sweep will find them', error))
      .finally(() => this.waking.delete(waking));
    this.waking.add(waking);
  }

  /** Waits until all wake-ups are sent, within the queue's own time limits. */
  async close(): Promise<void> {
    await Promise.all([this.flushing, ...this.waking]);
  }

  private async flush(): Promise<void> {
    while (this.waiting.length > 0) {
      const eventIds = this.waiting.splice(0, MAX_IDS_PER_FLUSH);
      try {
        await this.queue.wakeFanout(eventIds);
      } catch (error) {
        this.waiting = [];
        this.warn('The queue does not accept events; the sweep will deliver them', error);
      }
    }
    this.flushing = undefined;
  }
}
