import { networkOf } from '@iss/platform';
import type { Request, Response } from 'express';
import type { ClientAddresses } from '../request/client-address';
import { hasAllowanceHeaders, requireAllowance } from './rate-headers';
import type { Allowance } from './rate-limiter';

const WINDOW_MS = 60_000;
/** About 10 MB at most. An address that is forgotten starts again from zero. */
const MAX_ADDRESSES = 100_000;
/** Platforms probe these paths constantly, each from one address. */
export const PROBES: readonly string[] = ['/health', '/v1/ops/readiness'];

/**
 * Counts requests without a valid token per address (docs/limits.md, "Rates"). It counts in this process only and runs
 * no statement, so that unknown callers cost the database nothing.
 */
export class AnonymousRequests {
  private counts = new Map<string, number>();
  private endsAtMs = 0;

  constructor(
    /** Per address and minute; 0: unlimited. */
    private readonly limit: number,
    private readonly addresses: ClientAddresses,
    private readonly nowMs: () => number = () => performance.now(),
    private readonly maxAddresses = MAX_ADDRESSES,
  ) {}

  /**
   * Counts a request once, and sets the headers that say how many are left. Throws `rate_limited`. Probes are not
   * counted.
   */
  count(request: Request, response: Response): void {
    if (this.limit === 0 || PROBES.includes(request.path) || hasAllowanceHeaders(response)) return;
    const hint = ' from this address without a valid token';
    requireAllowance(response, this.take(networkOf(this.addresses.of(request))), hint);
  }

  private take(network: string): Allowance {
    const nowMs = this.nowMs();
    if (nowMs >= this.endsAtMs) {
      this.counts = new Map();
      this.endsAtMs = nowMs + WINDOW_MS;
    }
    const count = (this.counts.get(network) ?? 0) + 1;
    this.counts.set(network, Math.min(count, this.limit + 1));
    if (this.counts.size > this.maxAddresses) this.forgetOldest();
    return {
      isAllowed: count <= this.limit,
      limit: this.limit,
      remaining: Math.max(0, this.limit - count),
      resetSeconds: Math.ceil((this.endsAtMs - nowMs) / 1000),
    };
  }

  private forgetOldest(): void {
    for (const oldest of this.counts.keys()) {
      this.counts.delete(oldest);
      return;
    }
  }
}
