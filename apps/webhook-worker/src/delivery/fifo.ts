/** First in, first out, in constant time; an array's own `shift` moves all that is behind. */
export class Fifo<T> {
  private items: T[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  /** The oldest item, which stays. */
  get first(): T | undefined {
    return this.items[this.head];
  }

  push(item: T): void {
    this.items.push(item);
  }

  /** The oldest item, or undefined when there is none. */
  shift(): T | undefined {
    const item = this.items[this.head];
    if (this.head < this.items.length) this.head += 1;
    // What has been taken is let go when it is half of the array, so that moving the rest costs little on average.
    if (this.head * 2 >= this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }
}
