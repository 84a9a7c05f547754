import { Shares } from '@iss/platform';

/** So many of the places a founder may have in any case, and one at least. */
const OWN_PART = 1 / 250;

/**
 * Places of requests that are held open. Principals have a bound; founders have shares, so that one of them, whatever its
 * tenants and their members do, holds a quarter alone and leaves places to those who hold few.
 */
export class HeldPlaces {
  private readonly shares: Shares;
  private readonly ofPrincipals = new Map<string, number>();
  private count = 0;

  constructor(
    size: number,
    private readonly perPrincipal: number,
  ) {
    this.shares = new Shares(size, Math.max(1, Math.floor(size * OWN_PART)));
  }

  /** How many are held. */
  get held(): number {
    return this.count;
  }

  /** Takes a place, and gives what gives it back; null where there is none for this principal or founder. */
  take(principalId: string, founderId: string): (() => void) | null {
    const own = this.ofPrincipals.get(principalId) ?? 0;
    if (own >= this.perPrincipal || !this.shares.admits(founderId)) return null;
    this.shares.take(founderId);
    this.ofPrincipals.set(principalId, own + 1);
    this.count += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.giveBack(principalId, founderId);
    };
  }

  private giveBack(principalId: string, founderId: string): void {
    this.shares.giveBack(founderId);
    this.count -= 1;
    const left = (this.ofPrincipals.get(principalId) ?? 1) - 1;
    if (left === 0) this.ofPrincipals.delete(principalId);
    else this.ofPrincipals.set(principalId, left);
  }
}
