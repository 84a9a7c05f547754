import type { IncomingMessage } from 'node:http';
import { forwardedAddress, networkOf, type Warn, withinNetworks } from '@iss/platform';
import type { Request, Response } from 'express';
import { requireAllowance, tellsAllowance } from './rate-headers';
import type { Allowance } from './rate-limiter';

const WINDOW_MS = 60_000;
/** Some 10 MB at most. An address that is forgotten begins anew. */
const MAX_ADDRESSES = 100_000;
/** What platforms ask again and again, each from one address. */
const PROBES = ['/health', '/v1/ops/readiness'];

/**
 * Requests without a valid token, counted by the address from which they come (docs/limits.md, "Rates"). In this process
 * alone and without a statement: whoever is not known costs the database nothing.
 */
export class AnonymousRequests {
  private counts = new Map<string, number>();
  private endsAtMs = 0;
  private readonly isTrusted: (address: string) => boolean;

  constructor(
    /** Of one address a minute; 0: any number. */
    private readonly limit: number,
    trustedProxies: readonly string[],
    private readonly warn: Warn,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.isTrusted = withinNetworks(trustedProxies);
  }

  /** Counts a request once, and tells its caller how many are left. Throws `rate_limited`. Probes are not counted. */
  count(request: Request, response: Response): void {
    if (this.limit === 0 || PROBES.includes(request.path) || tellsAllowance(response)) return;
    const hint = ' from this address without a valid token';
    requireAllowance(response, this.take(networkOf(this.addressOf(request))), hint);
  }

  private take(network: string): Allowance {
    const nowMs = this.nowMs();
    if (nowMs >= this.endsAtMs) {
      this.counts = new Map();
      this.endsAtMs = nowMs + WINDOW_MS;
    }
    const count = (this.counts.get(network) ?? 0) + 1;
    this.counts.set(network, Math.min(count, this.limit + 1));
    if (this.counts.size > MAX_ADDRESSES) this.forgetOldest();
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

  /**
   * Who connected; behind trusted proxies the last one that they saw and that is no such proxy. What stands before it in
   * `X-Forwarded-For` the caller may have written itself.
   */
  private addressOf({ socket, headers }: IncomingMessage): string {
    let address = socket.remoteAddress ?? '';
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) return address;
    if (!this.isTrusted(address)) {
      this.warn('X-Forwarded-For came from an address that TRUSTED_PROXIES does not name, and was not believed');
      return address;
    }
    const hops = String(forwarded).split(',');
    while (hops.length > 0 && this.isTrusted(address)) {
      const next = forwardedAddress(hops.pop() ?? '');
      if (next === null) break;
      address = next;
    }
    return address;
  }
}
