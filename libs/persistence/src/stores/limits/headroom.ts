import { RecentMap } from '@iss/platform';

interface Known {
  cap: number;
  left: number;
  endsAtMs: number;
}

/** A count is made again for each quarter of what was free: four processes together do not pass the cap by it. */
const PART = 4;
const KEPT_MS = 60_000;
const MAX_KNOWN = 10_000;

/**
 * What a process remembers of counts under large caps, so that it need not count with every row: after a count of n under
 * a cap c no other one is needed for (c - n) / 4 rows of its own, the counted one included, or for a minute. Near the cap
 * every row is counted, so that small caps are strict.
 */
export class Headroom {
  private readonly known = new RecentMap<string, Known>(MAX_KNOWN);

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Takes room for a row of this tenant: the cap under which there is some, as far as is known; null: count. */
  take(tenantId: string): number | null {
    const known = this.known.get(tenantId);
    if (known === undefined || known.left === 0 || this.nowMs() >= known.endsAtMs) return null;
    known.left -= 1;
    return known.cap;
  }

  /** What was counted, the row for which it was done not included. */
  counted(tenantId: string, count: number, cap: number): void {
    const left = Math.max(0, Math.floor((cap - count) / PART) - 1);
    this.known.set(tenantId, { cap, left, endsAtMs: this.nowMs() + KEPT_MS });
  }
}
