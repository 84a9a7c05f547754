import type { PendingDelivery } from '@iss/persistence';
import { Fifo } from './fifo';
import type { TurnTaker } from './turns';

/** The outcome of a delivery: a successful or failed attempt, or nothing to do. */
export type AttemptOutcome =
  | { kind: 'nothing' }
  | { kind: 'succeeded' | 'failed'; /** Covers only the request. */ latencyMs: number; targetHost: string };

/** The state of an endpoint according to its results. `unproven`: no result yet, slow, or sometimes failing. */
export type EndpointTrust = 'proven' | 'unproven' | 'failing';

/** Simultaneous attempts to one subscription: until the first 2xx, and at most. */
const FIRST_LIMIT = 2;
const MAX_LIMIT = 32;
/** Failures in a row that open a subscription's circuit. By then its limit is 1 in any case. */
const FAILING_AFTER = 5;
/** An endpoint whose attempts take longer on average (a moving average) is slow. */
const QUICK_MS = 1_000;
const LATEST_COUNTS = 1 / 4;

/** The deliveries to one subscription and the state of its endpoint. */
export class Lane implements TurnTaker {
  readonly founderId: string;
  readonly tenantId: string;
  readonly subscriptionId: string;
  readonly waiting = new Fifo<PendingDelivery>();
  running = 0;
  private host: string;
  /** Grows by one with each success and halves with each failure, so that a struggling endpoint gets fewer attempts. */
  private limit = FIRST_LIMIT;
  /** Failures since the last success. */
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

  get trust(): EndpointTrust {
    if (this.failures >= FAILING_AFTER) return 'failing';
    const isProven = this.hasSucceeded && this.failures === 0 && (this.averageMs ?? 0) <= QUICK_MS;
    return isProven ? 'proven' : 'unproven';
  }

  /** True if it could start a delivery. */
  get isEager(): boolean {
    return this.waiting.length > 0 && this.running < this.limit;
  }

  learn(outcome: AttemptOutcome): void {
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

  /** Resets the state because the target has changed, and the previous target's results do not apply to the new one. */
  private forget(targetHost: string): void {
    this.host = targetHost;
    this.limit = FIRST_LIMIT;
    this.failures = 0;
    this.hasSucceeded = false;
    this.averageMs = undefined;
  }
}
