import type { DomainError } from '@iss/domain';

/**
 * Maximum number of lines that are read and whose outcomes are not taken yet: enough for three statements and the lines
 * that wait for them.
 */
const MAX_LINES = 256;
/** Maximum size of these lines. One line is always allowed. */
const MAX_BYTES = 4 * 1024 * 1024;

interface Slot<Outcome> {
  bytes: number;
  outcome: Outcome | null;
}

/** Returns outcomes in the order in which their lines began, and limits how many lines are in flight. */
export class LinesInFlight<Outcome> {
  private slots: Slot<Outcome>[] = [];
  private bytes = 0;
  private hasEnded = false;
  private isStopped = false;
  private failure: { error: unknown } | null = null;
  private readonly changed = new Signal();
  private readonly taken = new Signal();

  /** True if no more lines may begin. */
  get isOver(): boolean {
    return this.isStopped;
  }

  hasRoom(bytes: number): boolean {
    const { length } = this.slots;
    return length === 0 || (length < MAX_LINES && this.bytes + bytes <= MAX_BYTES);
  }

  /** Resolves when there is room for a line of this size, or when no more lines may begin. */
  async room(bytes: number): Promise<void> {
    while (!this.hasRoom(bytes) && !this.isStopped) await this.taken.next();
  }

  /** Begins a line. Call the returned function once, with the line's outcome. */
  begin(bytes: number): (outcome: Outcome) => void {
    const slot: Slot<Outcome> = { bytes, outcome: null };
    this.slots.push(slot);
    this.bytes += bytes;
    return (outcome) => {
      slot.outcome = outcome;
      if (this.slots[0] === slot) this.changed.give();
    };
  }

  /** Ends the lines when `reading` is done. If it rejects, its error is thrown after the last outcome. */
  endWith(reading: Promise<void>): void {
    reading
      .catch((error: unknown) => {
        this.failure ??= { error };
      })
      .finally(() => {
        this.hasEnded = true;
        this.changed.give();
      });
  }

  /**
   * Begins no more lines, because nobody takes their outcomes. If there is an `error`, throws it after the last
   * outcome.
   */
  stop(error?: DomainError): void {
    if (error !== undefined) this.failure ??= { error };
    this.isStopped = true;
    this.hasEnded = true;
    this.taken.give();
    this.changed.give();
  }

  /** Yields the outcomes in groups as they become known. */
  async *outcomes(): AsyncGenerator<readonly Outcome[], void> {
    for (;;) {
      const known = this.takeKnown();
      if (known.length > 0) {
        yield known;
        continue;
      }
      if (this.hasEnded && this.slots.length === 0) break;
      await this.changed.next();
      // The rows of one statement report their outcomes one by one in the same turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (this.failure !== null) throw this.failure.error;
  }

  private takeKnown(): Outcome[] {
    const known: Outcome[] = [];
    for (const { bytes, outcome } of this.slots) {
      if (outcome === null) break;
      known.push(outcome);
      this.bytes -= bytes;
    }
    if (known.length > 0) {
      this.slots = this.slots.slice(known.length);
      this.taken.give();
    }
    return known;
  }
}

/** Wakes the waiting caller. If nobody waits, the signal is stored for the next one. */
class Signal {
  private isGiven = false;
  private wake: (() => void) | null = null;

  give(): void {
    this.isGiven = true;
    this.wake?.();
  }

  async next(): Promise<void> {
    if (!this.isGiven) await new Promise<void>((resolve) => (this.wake = resolve));
    this.isGiven = false;
    this.wake = null;
  }
}
