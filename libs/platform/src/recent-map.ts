/**
 * Keeps the most recently used entries: at least `limit` by weight, and at most twice as much. Without `weigh`, each
 * entry weighs 1. Entries move between two halves instead of being deleted one by one, because an old Map keeps the
 * memory of deleted entries until the next full garbage collection.
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

  /** Deletes an entry that must not be returned again. Its memory is freed at the next full garbage collection. */
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
