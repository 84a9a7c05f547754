import { RecentMap } from '@iss/platform';

interface Known {
  cap: number;
  left: number;
  endsAtMs: number;
}

/** A count is valid for one quarter of the free rows, so four concurrent processes do not exceed the cap. */
const PART = 4;
const VALID_MS = 60_000;
const MAX_KNOWN = 10_000;

/**
 * Remembers counts under large caps, so that a process need not count for every row. After a count of n under a cap c, the
 * process adds (c - n) / 4 rows without counting again, the first one included, for at most a minute. Near the cap it counts for
 * every row, so small caps are strict.
 */
export class Headroom {
  private readonly known = new RecentMap<string, Known>(MAX_KNOWN);

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /**
   * Takes a place for one row of this tenant. Returns the cap if a place is known to be free; null means that the caller must
   * count.
   */
  take(tenantId: string): number | null {
    const known = this.known.get(tenantId);
    if (known === undefined || known.left === 0 || this.nowMs() >= known.endsAtMs) return null;
    known.left -= 1;
    return known.cap;
  }

  /** Remembers a count that does not include the new row. */
  counted(tenantId: string, count: number, cap: number): void {
    const left = Math.max(0, Math.floor((cap - count) / PART) - 1);
    this.known.set(tenantId, { cap, left, endsAtMs: this.nowMs() + VALID_MS });
  }
}
