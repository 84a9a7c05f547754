/**
 * Keeps the entries that were used last: at least those that weigh `limit` together, at most twice as many. Without
 * `weigh` each weighs 1. Entries move between two halves and are not deleted one by one as others come: a Map that is old keeps what
 * was deleted from it until the next full garbage collection.
 */
export class RecentMap<Key, Value> {
  private young = new Map<Key, Value>();
  private old = new Map<Key, Value>();
  private weight = 0;

  constructor(
    private readonly limit: number,
    private readonly weigh: (value: Value) => number = () => 1,
  ) {}

  get(key: Key): Value | undefined {
    const value = this.young.get(key);
    if (value !== undefined) return value;
    const aging = this.old.get(key);
    if (aging !== undefined) this.set(key, aging);
    return aging;
  }

  /** For what must not be there any more. Its memory is free at the next full garbage collection. */
  delete(key: Key): void {
    const value = this.young.get(key);
    if (value !== undefined) this.weight -= this.weigh(value);
    this.young.delete(key);
    this.old.delete(key);
  }

  clear(): void {
    this.young = new Map();
    this.old = new Map();
    this.weight = 0;
  }

  set(key: Key, value: Value): void {
    const replaced = this.young.get(key);
    this.weight += this.weigh(value) - (replaced === undefined ? 0 : this.weigh(replaced));
    this.young.set(key, value);
    if (this.weight < this.limit) return;
    this.old = this.young;
    this.young = new Map();
    this.weight = 0;
  }
}
