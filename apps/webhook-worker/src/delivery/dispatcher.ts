import type { PendingDelivery } from '@iss/persistence';
import { Fifo } from './fifo';
import { Turns } from './turns';

/** What came of taking up a delivery: an attempt that went well or not, or there was nothing to do. */
export type Outcome = 'succeeded' | 'failed' | 'nothing';

/** Attempts at once to one subscription: at first, and at most. */
const FIRST_LIMIT = 4;
const MAX_LIMIT = 32;
/** So many failures in a row open a subscription's circuit. */
const OPEN_AFTER_FAILURES = 5;
/** Of all attempts at once: those of one tenant, and the probes of all open circuits, at most. */
const TENANT_SHARE = 1 / 2;
const PROBES_SHARE = 1 / 4;
/** Deliveries that wait in memory: of all, of one tenant, and of one subscription while its circuit is open. */
const MAX_WAITING = 100_000;
const TENANT_CAPACITY = 20_000;
const OPEN_LANE_CAPACITY = 200;
/** With fewer waiting, more of the subscription's deliveries are welcome. */
const REFILL_BELOW = 500;
const OPEN_REFILL_BELOW = 100;
const MAX_REMEMBERED = 10_000;

/** Deliveries of one tenant that are here. */
interface Tenant {
  running: number;
  waiting: number;
}

/** Deliveries to one subscription. */
interface Lane {
  readonly tenantId: string;
  readonly subscriptionId: string;
  readonly waiting: Fifo<PendingDelivery>;
  running: number;
  /** Grows by one with each success and halves with each failure, so that an endpoint that struggles is spared. */
  limit: number;
  /** Since the last success. */
  failures: number;
}

/**
 * Decides which delivery goes next. A fixed number run at once; tenants take turns, and within a tenant its
 * subscriptions, and no tenant may have all that runs, so that neither a burst nor dead or slow endpoints hold up the
 * others. A subscription that failed five times in a row has an open circuit: one probe at a time until one succeeds,
 * within a share for all open circuits together. What does not fit is simply dropped here: it stays due in PostgreSQL,
 * and the sweep offers it again.
 */
export class Dispatcher {
  private readonly lanes = new Map<string, Lane>();
  private readonly tenants = new Map<string, Tenant>();
  /** Lanes that could start a delivery, by the state of their circuits. */
  private readonly closed = new Turns<Lane>();
  private readonly open = new Turns<Lane>();
  private readonly known = new Set<string>();
  private readonly maxOfTenant: number;
  private readonly maxProbes: number;
  private running = 0;
  private probes = 0;
  private wasProbe = false;
  private isClosed = false;
  private onIdle: (() => void) | undefined;

  constructor(
    private readonly deliver: (delivery: PendingDelivery) => Promise<Outcome>,
    private readonly concurrency: number,
  ) {
    this.maxOfTenant = Math.ceil(concurrency * TENANT_SHARE);
    this.maxProbes = Math.ceil(concurrency * PROBES_SHARE);
  }

  /** Takes up deliveries as soon as there is room for them; ones that are here already are passed over. */
  offer(deliveries: readonly PendingDelivery[]): void {
    for (const delivery of deliveries) {
      if (this.isClosed || this.known.size >= MAX_WAITING || this.known.has(delivery.deliveryId)) continue;
      const lane = this.laneOf(delivery);
      if (this.isFull(lane)) continue;
      this.known.add(delivery.deliveryId);
      lane.waiting.push(delivery);
      this.count(lane, { waiting: 1 });
      this.queueUp(lane);
    }
    this.startSome();
  }

  /** Subscriptions of which enough deliveries wait here for now: no use in offering more of them. */
  backlogged(): string[] {
    return [...this.lanes.values()]
      .filter((lane) => lane.waiting.length >= (isOpen(lane) ? OPEN_REFILL_BELOW : REFILL_BELOW) || this.isFull(lane))
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
      lane = { tenantId, subscriptionId, waiting: new Fifo(), running: 0, limit: FIRST_LIMIT, failures: 0 };
      this.lanes.set(subscriptionId, lane);
    }
    return lane;
  }

  private isFull(lane: Lane): boolean {
    const waitingOfTenant = this.tenants.get(lane.tenantId)?.waiting ?? 0;
    return waitingOfTenant >= TENANT_CAPACITY || (isOpen(lane) && lane.waiting.length >= OPEN_LANE_CAPACITY);
  }

  private queueUp(lane: Lane): void {
    if (lane.waiting.length === 0 || lane.running >= lane.limit) return;
    (isOpen(lane) ? this.open : this.closed).add(lane);
  }

  private startSome(): void {
    while (this.running < this.concurrency && !this.isClosed) {
      const lane = this.next();
      if (lane === undefined) return;
      // Its limit may have shrunk since it queued up; it comes back when one of its deliveries ends.
      const delivery = lane.running < lane.limit ? lane.waiting.shift() : undefined;
      if (delivery !== undefined) this.run(lane, delivery);
      this.queueUp(lane);
    }
  }

  /** Open circuits and closed ones take turns, so that none is forgotten for the others. */
  private next(): Lane | undefined {
    const isAllowed = (tenantId: string): boolean => (this.tenants.get(tenantId)?.running ?? 0) < this.maxOfTenant;
    const probe = (): Lane | undefined => (this.probes < this.maxProbes ? this.open.take(isAllowed) : undefined);
    const lane = this.wasProbe ? (this.closed.take(isAllowed) ?? probe()) : (probe() ?? this.closed.take(isAllowed));
    this.wasProbe = lane !== undefined && isOpen(lane);
    return lane;
  }

  private run(lane: Lane, delivery: PendingDelivery): void {
    const probes = isOpen(lane) ? 1 : 0;
    this.count(lane, { running: 1, waiting: -1, probes });
    const end = (outcome: Outcome): void => {
      this.count(lane, { running: -1, probes: -probes });
      this.known.delete(delivery.deliveryId);
      this.learn(lane, outcome);
      this.forgetIfIdle(lane);
      this.startSome();
      if (this.running === 0) this.onIdle?.();
    };
    this.deliver(delivery).then(end, () => end('failed'));
  }

  private count(lane: Lane, { running = 0, waiting = 0, probes = 0 }: Partial<Tenant> & { probes?: number }): void {
    const tenant = this.tenants.get(lane.tenantId) ?? { running: 0, waiting: 0 };
    tenant.running += running;
    tenant.waiting += waiting;
    if (tenant.running + tenant.waiting > 0) this.tenants.set(lane.tenantId, tenant);
    else this.tenants.delete(lane.tenantId);
    lane.running += running;
    this.running += running;
    this.probes += probes;
  }

  private learn(lane: Lane, outcome: Outcome): void {
    const wasOpen = isOpen(lane);
    if (outcome === 'succeeded') {
      lane.failures = 0;
      lane.limit = Math.min(lane.limit + 1, MAX_LIMIT);
    }
    if (outcome === 'failed') {
      lane.failures += 1;
      lane.limit = Math.max(Math.floor(lane.limit / 2), 1);
    }
    if (isOpen(lane) !== wasOpen) (wasOpen ? this.open : this.closed).delete(lane);
    this.queueUp(lane);
  }

  /** A subscription that fails is remembered while it is idle, so that its next events don't get more slots again. */
  private forgetIfIdle(lane: Lane): void {
    if (lane.running > 0 || lane.waiting.length > 0) return;
    if (lane.failures === 0 || this.lanes.size > MAX_REMEMBERED) this.lanes.delete(lane.subscriptionId);
  }
}

/** By then its limit is 1, wherever it began: five halvings of 32. */
function isOpen(lane: Lane): boolean {
  return lane.failures >= OPEN_AFTER_FAILURES;
}
