import { rarely, type Warn } from '@iss/platform';
import type { DeliveryRef, EventQueue } from '@iss/queue';
import { Injectable } from '@nestjs/common';

/** Events that wait for the queue at most; what comes beyond is left to the worker's sweep. */
const MAX_WAITING = 10_000;
const MAX_IDS_PER_FLUSH = 500;

/**
 * Tells the worker of committed events. They stand in the outbox already, so nothing here has to succeed: the worker's
 * sweep finds the events that it was not told of.
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

  /** To be called after the commit, with bare event UUIDs. Never throws and never makes its caller wait. */
  announce(eventIds: readonly string[]): void {
    if (this.waiting.length + eventIds.length > MAX_WAITING) {
      this.warn('Too many events wait for the queue; the sweep will deliver them');
      return;
    }
    this.waiting.push(...eventIds);
    // Deferred, so that events of one turn share a round trip.
    this.flushing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.flush());
  }

  /** The same for deliveries that are due without a fan-out. */
  wake(deliveries: readonly DeliveryRef[]): void {
    const waking = this.queue
      .wakeDelivery(deliveries)
      .catch((error: unknown) => this.warn('The queue does not take deliveries; the sweep will create them', error))
      .finally(() => this.waking.delete(waking));
    this.waking.add(waking);
  }

  /** Hands over what waits, within the queue's own time limits. */
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
        this.warn('The queue does not take events; the sweep will deliver them', error);
      }
    }
    this.flushing = undefined;
  }
}
