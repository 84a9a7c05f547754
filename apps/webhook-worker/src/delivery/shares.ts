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

  admits(holder: string): boolean {
    if (this.free === 0) return false;
    const held = this.held.get(holder) ?? 0;
    return held < this.own || held < this.free - this.reserved;
  }

  take(holder: string): void {
    this.held.set(holder, (this.held.get(holder) ?? 0) + 1);
    this.free -= 1;
  }

  giveBack(holder: string): void {
    const left = (this.held.get(holder) ?? 0) - 1;
    if (left > 0) this.held.set(holder, left);
    else this.held.delete(holder);
    this.free += 1;
  }
}
