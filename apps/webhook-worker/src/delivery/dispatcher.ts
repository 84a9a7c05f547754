import type { OverdueDelivery, PendingDelivery } from '@iss/persistence';
import { Shares } from '@iss/platform';
import { Lane, type AttemptOutcome, type EndpointTrust } from './lane';
import { SlotPool } from './slot-pool';

/** Limits of deliveries that wait in memory: in total, guaranteed per founder, and per failing subscription. */
const MAX_WAITING = 100_000;
const OWN_WAITING = 500;
const FAILING_CAPACITY = 200;
/** How many subscriptions' results are remembered. */
const MAX_REMEMBERED = 10_000;
/** How many receivers are named as behind. */
const MAX_NAMED = 10;

/** The part of all slots that each kind of endpoint may hold, and the most slots for one host. */
const POOLS = {
  unproven: { part: 1 / 2, perHost: 8 },
  failing: { part: 1 / 8, perHost: 2 },
  proven: { part: 3 / 8, perHost: 32 },
} as const satisfies Record<EndpointTrust, { part: number; perHost: number }>;
const KINDS = ['proven', 'unproven', 'failing'] as const satisfies readonly EndpointTrust[];

/** The smallest number of slots with which each pool gets at least one. */
export const MIN_CONCURRENCY = KINDS.length;

/** A receiver whose deliveries wait for its own attempts to end. */
export interface HeldReceiver {
  tenantId: string;
  targetHost: string;
  /** How long its oldest delivery has been due. */
  dueForMs: number;
}

/** The pool and host in which a lane waits for its turn. */
interface Place {
  pool: SlotPool;
  targetHost: string;
}

/**
 * Decides which delivery is sent next. A fixed number of attempts runs at once, in three pools: for endpoints that
 * answer quickly, for those that are slow or unknown, and for those that keep failing. So no kind waits for another.
 * Endpoints that answer always have slots, even if many others hang. In each pool, founders take turns, and none holds
 * more than its share. A delivery without a place in memory is dropped here. It stays due in PostgreSQL, and the sweep
 * offers it again.
 */
export class Dispatcher {
  private readonly lanes = new Map<string, Lane>();
  /** Lanes without deliveries, longest idle first. */
  private readonly idle = new Set<Lane>();
  private readonly places = new Map<Lane, Place>();
  /** When each delivery became due, by id. */
  private readonly known = new Map<string, number>();
  private readonly memory = new Shares(MAX_WAITING, OWN_WAITING);
  private readonly pools: Record<EndpointTrust, SlotPool>;
  private running = 0;
  private isClosed = false;
  private onIdle: (() => void) | undefined;

  /** @param concurrency number of simultaneous attempts, at least {@link MIN_CONCURRENCY} */
  constructor(
    private readonly deliver: (delivery: PendingDelivery) => Promise<AttemptOutcome>,
    concurrency: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    const sizeOf = (kind: 'unproven' | 'failing'): number => Math.max(1, Math.floor(concurrency * POOLS[kind].part));
    const [unproven, failing] = [sizeOf('unproven'), sizeOf('failing')];
    this.pools = {
      proven: new SlotPool(concurrency - unproven - failing, POOLS.proven.perHost, true),
      unproven: new SlotPool(unproven, POOLS.unproven.perHost, false),
      failing: new SlotPool(failing, POOLS.failing.perHost, false),
    };
  }

  /** Starts deliveries as soon as there are slots for them. Skips deliveries that it already holds. */
  offer(deliveries: readonly (PendingDelivery & Partial<OverdueDelivery>)[]): void {
    const nowMs = this.nowMs();
    for (const { dueForMs = 0, ...delivery } of deliveries) {
      if (this.isClosed || this.known.has(delivery.deliveryId)) continue;
      const lane = this.lanes.get(delivery.subscriptionId) ?? new Lane(delivery);
      if (lane.trust === 'failing' && lane.waiting.length >= FAILING_CAPACITY) continue;
      if (!this.memory.admits(lane.founderId)) continue;
      this.memory.take(lane.founderId);
      this.known.set(delivery.deliveryId, nowMs - dueForMs);
      this.lanes.set(lane.subscriptionId, lane);
      lane.waiting.push(delivery);
      this.settle(lane);
    }
    this.startSome();
  }

  load(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.known.size - this.running };
  }

  /** Returns for how many milliseconds the oldest delivery that only lacks a slot has been due; 0 if there is none. */
  oldestRunnableMs(): number {
    return Math.max(0, ...this.findWaits(true).map(({ dueForMs }) => dueForMs));
  }

  /**
   * Returns the receivers that are furthest behind, by tenant and host. Their deliveries wait for their own earlier
   * attempts.
   */
  heldReceivers(): HeldReceiver[] {
    const oldestFirst = this.findWaits(false).sort((a, b) => b.dueForMs - a.dueForMs);
    const receivers = new Map<string, HeldReceiver>();
    for (const wait of oldestFirst) {
      const name = `${wait.tenantId} ${wait.targetHost}`;
      if (!receivers.has(name)) receivers.set(name, wait);
      if (receivers.size === MAX_NAMED) break;
    }
    return [...receivers.values()];
  }

  /** Returns the number of slots in use, by kind of endpoint. */
  slotsHeld(): Record<EndpointTrust, number> {
    const { proven, unproven, failing } = this.pools;
    return { proven: proven.running, unproven: unproven.running, failing: failing.running };
  }

  /** Returns how many turns were skipped because a founder held its share of the slots. */
  skippedTurns(): Record<EndpointTrust, number> {
    const { proven, unproven, failing } = this.pools;
    return { proven: proven.skipped, unproven: unproven.skipped, failing: failing.skipped };
  }

  /** Starts nothing more. Resolves when all running attempts have ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.running > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
  }

  private findWaits(lacksSlot: boolean): HeldReceiver[] {
    const nowMs = this.nowMs();
    return [...this.lanes.values()].flatMap((lane) => {
      const dueSinceMs = this.known.get(lane.waiting.first?.deliveryId ?? '');
      if (dueSinceMs === undefined || (this.places.get(lane)?.pool.lacksSlot(lane) === true) !== lacksSlot) return [];
      const { tenantId, targetHost } = lane;
      return { tenantId, targetHost, dueForMs: nowMs - dueSinceMs };
    });
  }

  private startSome(): void {
    if (this.isClosed) return;
    for (const kind of KINDS) {
      const pool = this.pools[kind];
      for (let lane = pool.next(); lane !== undefined; lane = pool.next()) this.run(lane);
    }
  }

  private run(lane: Lane): void {
    const place = this.places.get(lane);
    const delivery = lane.waiting.shift();
    if (place === undefined || delivery === undefined) throw new Error('A lane without a delivery had its turn');
    this.places.delete(lane);
    this.memory.giveBack(lane.founderId);
    lane.running += 1;
    this.running += 1;
    const end = (outcome: AttemptOutcome): void => {
      lane.running -= 1;
      this.running -= 1;
      this.known.delete(delivery.deliveryId);
      place.pool.end(lane, place.targetHost);
      lane.learn(outcome);
      this.settle(lane);
      this.startSome();
      if (this.running === 0) this.onIdle?.();
    };
    this.settle(lane);
    this.deliver(delivery).then(end, () => end({ kind: 'failed', latencyMs: 0, targetHost: place.targetHost }));
  }

  /** Moves a lane to the pool of its kind if it could start a delivery, and out of any pool otherwise. */
  private settle(lane: Lane): void {
    const place = this.places.get(lane);
    const pool = lane.isEager ? this.pools[lane.trust] : undefined;
    const { targetHost } = lane;
    if (place !== undefined && (place.pool !== pool || place.targetHost !== targetHost)) {
      place.pool.leave(lane, place.targetHost);
      this.places.delete(lane);
    }
    if (pool !== undefined && !this.places.has(lane)) {
      pool.enter(lane);
      this.places.set(lane, { pool, targetHost });
    }
    this.remember(lane);
  }

  /**
   * Remembers the results of an idle endpoint, so that they apply to its next events. Forgets the longest idle one if
   * too many are remembered.
   */
  private remember(lane: Lane): void {
    this.idle.delete(lane);
    if (lane.running === 0 && lane.waiting.length === 0) this.idle.add(lane);
    if (this.lanes.size <= MAX_REMEMBERED) return;
    const [forgotten] = this.idle;
    if (forgotten === undefined) return;
    this.idle.delete(forgotten);
    this.lanes.delete(forgotten.subscriptionId);
  }
}
