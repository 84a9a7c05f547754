import { Shares } from '@iss/platform';

/** The part of all places that a founder gets even if most are taken. It is at least one place. */
const OWN_PART = 1 / 250;

/**
 * Limits the requests that are held open. Each principal has a fixed maximum. Founders share the places: one founder,
 * with all its tenants and their members, holds at most a quarter, and leaves places to founders that hold few.
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

  get inUse(): number {
    return this.count;
  }

  /**
   * Takes a place and returns a function that gives it back. Returns null if this principal or founder gets no place.
   */
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
