import type { PendingDelivery } from '@iss/persistence';
import { Fifo } from './fifo';

/** What came of taking up a delivery: an attempt that went well or not, or there was nothing to do. */
export type Outcome = 'succeeded' | 'failed' | 'nothing';

/** Attempts at once to one subscription: at first, and at most. */
const FIRST_LIMIT = 4;
const MAX_LIMIT = 32;
/** Deliveries of one subscription that wait in memory, while it takes them and while it fails. */
const LANE_CAPACITY = 20_000;
const FAILING_LANE_CAPACITY = 200;
/** With fewer waiting, more of the subscription's deliveries are welcome. */
const REFILL_BELOW = 500;
const MAX_WAITING = 100_000;
const MAX_REMEMBERED = 10_000;

/** Deliveries to one subscription. */
interface Lane {
  readonly tenantId: string;
  readonly subscriptionId: string;
  readonly waiting: Fifo<PendingDelivery>;
  running: number;
  /** Grows by one with each success and halves with each failure, so that a dead endpoint soon holds one slot only. */
  limit: number;
}

/**
 * Decides which delivery goes next. A fixed number run at once; tenants take turns, and within a tenant its
 * subscriptions, so that neither a large fan-out nor a dead endpoint holds up the others. What does not fit is simply
 * dropped here: it stays due in PostgreSQL, and the sweep offers it again.
 */
export class Dispatcher {
  private readonly lanes = new Map<string, Lane>();
  /** Lanes that could start a delivery, by tenant; the order of insertion is the order of turns. */
  private readonly turns = new Map<string, Set<Lane>>();
  private readonly known = new Set<string>();
  private running = 0;
  private isClosed = false;
  private onIdle: (() => void) | undefined;

  constructor(
    private readonly deliver: (delivery: PendingDelivery) => Promise<Outcome>,
    private readonly concurrency: number,
  ) {}

  /** Takes up deliveries as soon as there is room for them; ones that are here already are passed over. */
  offer(deliveries: readonly PendingDelivery[]): void {
    for (const delivery of deliveries) {
      if (this.isClosed || this.known.size >= MAX_WAITING || this.known.has(delivery.deliveryId)) continue;
      const lane = this.laneOf(delivery);
      if (lane.waiting.length >= capacityOf(lane)) continue;
      this.known.add(delivery.deliveryId);
      lane.waiting.push(delivery);
      this.queueUp(lane);
    }
    this.startSome();
  }

  /** Subscriptions of which enough deliveries wait here for now: no use in offering more of them. */
  backlogged(): string[] {
    return [...this.lanes.values()]
      .filter((lane) => lane.waiting.length >= Math.min(REFILL_BELOW, capacityOf(lane)))
      .map((lane) => lane.subscriptionId);
  }

  /** Deliveries that run and that wait. */
  load(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.known.size - this.running };
  }

  /** Starts nothing more, and resolves when what runs has ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.running > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
  }

  private laneOf({ tenantId, subscriptionId }: PendingDelivery): Lane {
    let lane = this.lanes.get(subscriptionId);
    if (lane === undefined) {
      lane = { tenantId, subscriptionId, waiting: new Fifo(), running: 0, limit: FIRST_LIMIT };
      this.lanes.set(subscriptionId, lane);
    }
    return lane;
  }

  private queueUp(lane: Lane): void {
    if (lane.waiting.length === 0 || lane.running >= lane.limit) return;
    const lanes = this.turns.get(lane.tenantId);
    if (lanes === undefined) this.turns.set(lane.tenantId, new Set([lane]));
    else lanes.add(lane);
  }

  private startSome(): void {
    while (this.running < this.concurrency && !this.isClosed) {
      const next = this.next();
      if (next === undefined) return;
      void this.run(...next);
    }
  }

  /** The first delivery of the lane whose turn it is; the lane and its tenant go to the ends of their rows. */
  private next(): [Lane, PendingDelivery] | undefined {
    for (const [tenantId, lanes] of this.turns) {
      for (const lane of lanes) {
        lanes.delete(lane);
        // Its limit may have shrunk since it queued up; it comes back when one of its deliveries ends.
        if (lane.running >= lane.limit) continue;
        const delivery = lane.waiting.shift();
        if (delivery === undefined) continue;
        lane.running += 1;
        this.turns.delete(tenantId);
        if (lanes.size > 0) this.turns.set(tenantId, lanes);
        this.queueUp(lane);
        return [lane, delivery];
      }
      this.turns.delete(tenantId);
    }
    return undefined;
  }

  private async run(lane: Lane, delivery: PendingDelivery): Promise<void> {
    this.running += 1;
    const outcome = await this.deliver(delivery).catch((): Outcome => 'failed');
    this.running -= 1;
    lane.running -= 1;
    this.known.delete(delivery.deliveryId);
    if (outcome === 'succeeded') lane.limit = Math.min(lane.limit + 1, MAX_LIMIT);
    if (outcome === 'failed') lane.limit = Math.max(Math.floor(lane.limit / 2), 1);
    this.forgetIfIdle(lane);
    this.queueUp(lane);
    this.startSome();
    if (this.running === 0) this.onIdle?.();
  }

  /** A subscription that fails is remembered while it is idle, so that its next events don't get more slots again. */
  private forgetIfIdle(lane: Lane): void {
    if (lane.running > 0 || lane.waiting.length > 0) return;
    if (!isFailing(lane) || this.lanes.size > MAX_REMEMBERED) this.lanes.delete(lane.subscriptionId);
  }
}

function isFailing(lane: Lane): boolean {
  return lane.limit < FIRST_LIMIT;
}

function capacityOf(lane: Lane): number {
  return isFailing(lane) ? FAILING_LANE_CAPACITY : LANE_CAPACITY;
}
