import type { RateLimitStore, RateWindow } from '@iss/persistence';

/** Whether a request may pass, and what its caller is told about the limit. */
export interface Allowance {
  isAllowed: boolean;
  /** Of this principal, in a window. */
  limit: number;
  /** Requests left in the window, as far as this process knows. */
  remaining: number;
  /** Until the window ends. */
  resetSeconds: number;
}

interface Share {
  /** Requests that this process may still let pass. */
  left: number;
  /** Requests that no process had taken when this one last took some. */
  unreserved: number;
  limit: number;
  takenAtMs: number;
  endsAtMs: number;
}

/** A window may be long: so soon it is seen that an operator allows more. */
const ASK_AGAIN_MS = 60_000;
/** Some 20 MB at most. A caller that is forgotten loses what was left of its share, never gains. */
const MAX_PRINCIPALS = 100_000;

/** What a request is charged beyond itself: one request for each millisecond of processor time begun beyond the first. */
export function costOf(processorMs: number): number {
  return processorMs > 1 ? Math.ceil(processorMs) - 1 : 0;
}

/**
 * Counts a principal's requests down from shares of its limit that are taken for this process, so that most
 * requests cost no statement and all processes together never let more pass than the limit in a window.
 */
export class RateLimiter {
  /** In the order in which they were taken, hence about that in which they end. */
  private readonly shares = new Map<string, Share>();
  private readonly reserving = new Map<string, Promise<void>>();
  /** What principals owe beyond their shares, until the next reservation tells it. */
  private readonly owed = new Map<string, number>();

  constructor(
    readonly window: RateWindow,
    private readonly store: Pick<RateLimitStore, 'reserve'>,
    private readonly nowMs: () => number = () => performance.now(),
    private readonly maxPrincipals = MAX_PRINCIPALS,
  ) {}

  /** Takes one request. Rejects when a share is needed and cannot be had. */
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

  /** Gives a request back that was taken and then not needed. */
  giveBack(principalId: string): void {
    const share = this.shareOf(principalId);
    if (share !== undefined) share.left += 1;
  }

  /**
   * Takes what a request cost beyond itself ({@link costOf}), after its answer: from the principal's share, and from its
   * next ones, of whichever process, until the window ends. Never waits and never fails: what cannot be told is forgotten.
   * Does nothing where the deployment has no limit.
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

  /** Whether all processes together have taken all. */
  private isUsedUp({ unreserved, takenAtMs }: Share): boolean {
    return unreserved === 0 && this.nowMs() < takenAtMs + ASK_AGAIN_MS;
  }

  private shareOf(principalId: string): Share | undefined {
    const share = this.shares.get(principalId);
    return share !== undefined && this.nowMs() < share.endsAtMs ? share : undefined;
  }

  /** Requests that come together wait for one share. */
  private takeShare(principalId: string): Promise<void> {
    const running = this.reserving.get(principalId);
    if (running !== undefined) return running;
    // Counted from before the statement, so that a share never outlives its window.
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
        // What was charged while the statement ran.
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
