/** The share of places that is reserved for holders of few. */
const RESERVED = 1 / 2;

/**
 * Divides places among holders. A holder with fewer than `own` places can take any free place. It can take more only
 * while the free places beyond the reserved half outnumber the places that it holds. So a single busy holder gets a quarter of the
 * places (or `own`), and each of several busy ones gets less. A newcomer finds a place unless the others have used up
 * their own numbers.
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

  /** Checks whether this many places are free. */
  hasFree(places: number): boolean {
    return places <= this.free;
  }

  /** Checks whether the holder may take this many places at once. A holder of none may take any number that is free. */
  admits(holder: string, places = 1): boolean {
    if (!this.hasFree(places)) return false;
    const held = this.held.get(holder) ?? 0;
    return held === 0 || held + places <= Math.max(this.own, this.free - this.reserved);
  }

  /** Checks whether the holder has a place. */
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
