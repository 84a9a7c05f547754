import type { PendingDelivery } from '@iss/persistence';
import { Fifo } from './fifo';
import type { TurnTaker } from './turns';

/** What came of taking up a delivery: an attempt that went well or not, or there was nothing to do. */
export type Outcome =
  | { kind: 'nothing' }
  | { kind: 'succeeded' | 'failed'; /** Of the request alone. */ latencyMs: number; targetHost: string };

/** What an endpoint has shown of itself. `unproven`: nothing yet, or that it is slow, or that it fails now and then. */
export type Trust = 'proven' | 'unproven' | 'failing';

/** Attempts at once to one subscription: until it has answered 2xx, and at most. */
const FIRST_LIMIT = 2;
const MAX_LIMIT = 32;
/** So many failures in a row open a subscription's circuit. By then its limit is 1, wherever it began. */
const FAILING_AFTER = 5;
/** An endpoint whose attempts take longer, on a moving average, is slow. */
const QUICK_MS = 1_000;
const LATEST_COUNTS = 1 / 4;

/** Deliveries to one subscription, and what is known of its endpoint. */
export class Lane implements TurnTaker {
  readonly founderId: string;
  readonly tenantId: string;
  readonly subscriptionId: string;
  readonly waiting = new Fifo<PendingDelivery>();
  running = 0;
  private host: string;
  /** Grows by one with each success and halves with each failure, so that an endpoint that struggles is spared. */
  private limit = FIRST_LIMIT;
  /** Since the last success. */
  private failures = 0;
  private hasSucceeded = false;
  private averageMs: number | undefined;

  constructor({ founderId, tenantId, subscriptionId, targetHost }: PendingDelivery) {
    this.founderId = founderId;
    this.tenantId = tenantId;
    this.subscriptionId = subscriptionId;
    this.host = targetHost;
  }

  get targetHost(): string {
    return this.host;
  }

  get trust(): Trust {
    if (this.failures >= FAILING_AFTER) return 'failing';
    const isProven = this.hasSucceeded && this.failures === 0 && (this.averageMs ?? 0) <= QUICK_MS;
    return isProven ? 'proven' : 'unproven';
  }

  /** Whether it could start a delivery. */
  get isEager(): boolean {
    return this.waiting.length > 0 && this.running < this.limit;
  }

  learn(outcome: Outcome): void {
    if (outcome.kind === 'nothing') return;
    if (outcome.targetHost !== this.host) this.forget(outcome.targetHost);
    this.averageMs =
      this.averageMs === undefined
        ? outcome.latencyMs
        : this.averageMs + (outcome.latencyMs - this.averageMs) * LATEST_COUNTS;
    if (outcome.kind === 'succeeded') {
      this.hasSucceeded = true;
      this.failures = 0;
      this.limit = Math.min(this.limit + 1, MAX_LIMIT);
    } else {
      this.failures += 1;
      this.limit = Math.max(Math.floor(this.limit / 2), 1);
    }
  }

  /** Its target was changed: what was shown by the one before says nothing of this one. */
  private forget(targetHost: string): void {
    this.host = targetHost;
    this.limit = FIRST_LIMIT;
    this.failures = 0;
    this.hasSucceeded = false;
    this.averageMs = undefined;
  }
}
