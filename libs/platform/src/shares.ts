/** Of all places so many are only for holders of few. */
const RESERVED = 1 / 2;

/**
 * Places, and how many of them each holder may have. Whoever holds fewer than its `own` number takes any that is free;
 * whoever holds as many takes more while it holds fewer than are free beyond half of all. So a holder alone gets a
 * quarter (or its own number), one of several busy ones a smaller part, and half of the places go round: a newcomer finds
 * one until others hold all of their own numbers there.
 */
export class Shares {
  private readonly held = new Map<string, number>();
  private readonly reserved: number;
  private free: number;

  constructor(
    size: number,
    private readonly own: number,
  ) {
    this.free = size;
    this.reserved = Math.floor(size * RESERVED);
  }

  /** Whether so many places are free, whoever asks. */
  hasFree(places: number): boolean {
    return places <= this.free;
  }

  /** Whether the holder may take so many at once: one that holds none takes any number that is free. */
  admits(holder: string, places = 1): boolean {
    if (!this.hasFree(places)) return false;
    const held = this.held.get(holder) ?? 0;
    return held === 0 || held + places <= Math.max(this.own, this.free - this.reserved);
  }

  /** Tells whether the holder has a place. */
  holds(holder: string): boolean {
    return this.held.has(holder);
  }

  take(holder: string, places = 1): void {
    this.held.set(holder, (this.held.get(holder) ?? 0) + places);
    this.free -= places;
  }

  giveBack(holder: string, places = 1): void {
    const left = (this.held.get(holder) ?? 0) - places;
    if (left > 0) this.held.set(holder, left);
    else this.held.delete(holder);
    this.free += places;
  }
}
