/**
 * Keeps the entries that were used last: at least `size` of them, at most twice as many. Entries move between two halves
 * and are never deleted one by one: a Map that is old keeps what was deleted from it until the next full collection.
 */
export class RecentMap<Key, Value> {
  private young = new Map<Key, Value>();
  private old = new Map<Key, Value>();

  constructor(private readonly size: number) {}

  get(key: Key): Value | undefined {
    const value = this.young.get(key);
    if (value !== undefined) return value;
    const aging = this.old.get(key);
    if (aging !== undefined) this.set(key, aging);
    return aging;
  }

  set(key: Key, value: Value): void {
    this.young.set(key, value);
    if (this.young.size < this.size) return;
    this.old = this.young;
    this.young = new Map();
  }
}
