import { createHash } from 'node:crypto';

/** Pseudo-random numbers, always the same for the same name. */
export class Chance {
  private state: number;

  constructor(name: string) {
    this.state = createHash('sha256').update(name).digest().readUInt32LE();
  }

  /** Returns a number from 0 to below 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Returns a whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  of<T>(first: T, ...others: readonly T[]): T {
    return others[this.between(0, others.length) - 1] ?? first;
  }
}

/** Returns the id of a name, a UUID of version 8 (RFC 9562), always the same. */
export function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
