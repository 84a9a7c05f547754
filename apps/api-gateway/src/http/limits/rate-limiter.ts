import type { RateLimitStore } from '@iss/persistence';

/** Whether a request may pass, and what its caller is told about the limit. */
export interface Allowance {
  isAllowed: boolean;
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
  endsAtMs: number;
}

/** A process takes so much of a limit at once: few statements, and little is lost where it is not used up. */
const PARTS = 20;
/** Some 20 MB at most. A caller that is forgotten loses what was left of its share, never gains. */
const MAX_PRINCIPALS = 100_000;

/**
 * Counts a principal's requests down from shares of its limit that are taken for this process, so that most
 * requests cost no statement and all processes together never let more pass than `limit` in a window.
 */
export class RateLimiter {
  private readonly wanted: number;
  /** In the order in which they were taken, hence about that in which they end. */
  private readonly shares = new Map<string, Share>();
  private readonly reserving = new Map<string, Promise<void>>();

  constructor(
    readonly limit: number,
    private readonly store: Pick<RateLimitStore, 'reserve'>,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.wanted = Math.max(1, Math.floor(limit / PARTS));
  }

  /** Takes one request. Rejects when a share is needed and cannot be had. */
  async take(principalId: string): Promise<Allowance> {
    for (;;) {
      const nowMs = this.nowMs();
      const share = this.shares.get(principalId);
      if (share !== undefined && nowMs < share.endsAtMs && (share.left > 0 || share.unreserved === 0)) {
        const isAllowed = share.left > 0;
        if (isAllowed) share.left -= 1;
        const resetSeconds = Math.ceil((share.endsAtMs - nowMs) / 1000);
        return { isAllowed, remaining: share.left + share.unreserved, resetSeconds };
      }
      await this.takeShare(principalId);
    }
  }

  /** Requests that come together wait for one share. */
  private takeShare(principalId: string): Promise<void> {
    const running = this.reserving.get(principalId);
    if (running !== undefined) return running;
    // Counted from before the statement, so that a share never outlives its window.
    const askedAtMs = this.nowMs();
    const taking = this.store
      .reserve(principalId, this.wanted, this.limit)
      .then(({ granted, left, endsInMs }) => {
        this.remember(principalId, { left: granted, unreserved: left, endsAtMs: askedAtMs + endsInMs });
      })
      .finally(() => this.reserving.delete(principalId));
    this.reserving.set(principalId, taking);
    return taking;
  }

  private remember(principalId: string, share: Share): void {
    this.shares.delete(principalId);
    this.shares.set(principalId, share);
    for (const [oldest, { endsAtMs }] of this.shares) {
      if (this.shares.size <= MAX_PRINCIPALS && this.nowMs() < endsAtMs) return;
      this.shares.delete(oldest);
    }
  }
}
