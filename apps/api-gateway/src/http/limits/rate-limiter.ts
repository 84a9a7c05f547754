import type { RateLimitStore, RateWindow } from '@iss/persistence';

/** The decision about a request, with the state of the limit for its caller. */
export interface Allowance {
  isAllowed: boolean;
  /** Requests per window for this principal. */
  limit: number;
  /** Requests left in the window, as far as this process knows. */
  remaining: number;
  resetSeconds: number;
}

interface Share {
  /** Requests that this process may still let pass. */
  left: number;
  /** Requests that no process had reserved when this share was reserved. */
  unreserved: number;
  limit: number;
  takenAtMs: number;
  endsAtMs: number;
}

/** A window may be long. After this time, a higher limit that an operator has set takes effect. */
const ASK_AGAIN_MS = 60_000;
/**
 * About 20 MB at most. If a caller is forgotten, it loses the rest of its share, so it never gets more than its limit.
 */
const MAX_PRINCIPALS = 100_000;

/**
 * Returns the additional cost of a request: one request for each started millisecond of processor time after the first.
 */
export function costOf(processorMs: number): number {
  return processorMs > 1 ? Math.ceil(processorMs) - 1 : 0;
}

/**
 * Limits the requests of a principal. Each process reserves shares of the limit, so most requests need no statement,
 * and all processes together never exceed the limit in a window.
 */
export class RateLimiter {
  /** In the order in which they were reserved, which is roughly the order in which they end. */
  private readonly shares = new Map<string, Share>();
  private readonly reserving = new Map<string, Promise<void>>();
  /** The debt of each principal beyond its share, until the next reservation includes it. */
  private readonly owed = new Map<string, number>();

  constructor(
    readonly window: RateWindow,
    private readonly store: Pick<RateLimitStore, 'reserve'>,
    private readonly nowMs: () => number = () => performance.now(),
    private readonly maxPrincipals = MAX_PRINCIPALS,
  ) {}

  /** Takes one request. Rejects if a share is needed and cannot be reserved. */
  async take(principalId: string): Promise<Allowance> {
    for (;;) {
      const share = this.shareOf(principalId);
      if (share !== undefined && (share.left > 0 || this.isUsedUp(share))) {
        const isAllowed = share.left > 0;
        if (isAllowed) share.left -= 1;
        const resetSeconds = Math.ceil((share.endsAtMs - this.nowMs()) / 1000);
        return { isAllowed, limit: share.limit, remaining: share.left + share.unreserved, resetSeconds };
      }
      await this.takeShare(principalId);
    }
  }

  /** Gives back a request that was taken but not needed. */
  giveBack(principalId: string): void {
    const share = this.shareOf(principalId);
    if (share !== undefined) share.left += 1;
  }

  /**
   * Charges the additional cost of a request ({@link costOf}) after its response. The cost is taken from the
   * principal's share, then from its next shares in any process, until the window ends. Never waits and never fails: a
   * charge that cannot be stored is dropped. Does nothing if the deployment has no limit.
   */
  charge(principalId: string, requests: number): void {
    if (this.window.limit === 0 || !(requests > 0)) return;
    const share = this.shareOf(principalId);
    const paid = Math.min(requests, share?.left ?? 0);
    if (share !== undefined) share.left -= paid;
    if (paid === requests || (share !== undefined && this.isUsedUp(share))) return;
    this.owed.set(principalId, (this.owed.get(principalId) ?? 0) + requests - paid);
    this.takeShare(principalId).catch(() => this.owed.delete(principalId));
  }

  /** Returns whether all processes together have reserved the whole limit. */
  private isUsedUp({ unreserved, takenAtMs }: Share): boolean {
    return unreserved === 0 && this.nowMs() < takenAtMs + ASK_AGAIN_MS;
  }

  private shareOf(principalId: string): Share | undefined {
    const share = this.shares.get(principalId);
    return share !== undefined && this.nowMs() < share.endsAtMs ? share : undefined;
  }

  /** Reserves a share. Simultaneous requests wait for the same one. */
  private takeShare(principalId: string): Promise<void> {
    const running = this.reserving.get(principalId);
    if (running !== undefined) return running;
    // Measured before the statement, so that a share never outlives its window.
    const askedAtMs = this.nowMs();
    const owed = this.takeOwed(principalId);
    const taking = this.store
      .reserve(this.window, principalId, owed)
      .then(({ granted, left, limit, endsInMs }) => {
        this.remember(principalId, {
          left: granted,
          unreserved: left,
          limit,
          takenAtMs: askedAtMs,
          endsAtMs: askedAtMs + endsInMs,
        });
      })
      .finally(() => {
        this.reserving.delete(principalId);
        // The charges that arrived while the statement ran.
        this.charge(principalId, this.takeOwed(principalId));
      });
    this.reserving.set(principalId, taking);
    return taking;
  }

  private takeOwed(principalId: string): number {
    const owed = this.owed.get(principalId) ?? 0;
    if (owed > 0) this.owed.delete(principalId);
    return owed;
  }

  private remember(principalId: string, share: Share): void {
    this.shares.delete(principalId);
    this.shares.set(principalId, share);
    for (const [oldest, { endsAtMs }] of this.shares) {
      if (this.shares.size <= this.maxPrincipals && this.nowMs() < endsAtMs) return;
      this.shares.delete(oldest);
    }
  }
}
