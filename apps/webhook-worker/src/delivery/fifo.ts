/** A first-in, first-out queue in constant time. An array's own `shift` moves all following items. */
export class Fifo<T> {
  private items: T[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  /** The oldest item. It is not removed. */
  get first(): T | undefined {
    return this.items[this.head];
  }

  push(item: T): void {
    this.items.push(item);
  }

  /** Removes and returns the oldest item, or returns undefined if there is none. */
  shift(): T | undefined {
    const item = this.items[this.head];
    if (this.head < this.items.length) this.head += 1;
    // Memory is freed when half of the array was taken, so that moving the rest costs little on average.
    if (this.head * 2 >= this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }
}
