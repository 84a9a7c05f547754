import type { DomainError } from '@iss/domain';

/** Lines that are read and whose outcomes are not taken yet: enough for three statements and those that wait for them. */
const MAX_LINES = 256;
/** Bytes of them, one line at least. */
const MAX_BYTES = 4 * 1024 * 1024;

interface Slot<Outcome> {
  bytes: number;
  outcome: Outcome | null;
}

/** Keeps outcomes in the order in which their lines began, whichever is known first, and bounds how many are in flight. */
export class LinesInFlight<Outcome> {
  private slots: Slot<Outcome>[] = [];
  private bytes = 0;
  private hasEnded = false;
  private isStopped = false;
  private failure: { error: unknown } | null = null;
  private readonly changed = new Signal();
  private readonly taken = new Signal();

  /** Whether no more lines are to begin. */
  get isOver(): boolean {
    return this.isStopped;
  }

  hasRoom(bytes: number): boolean {
    const { length } = this.slots;
    return length === 0 || (length < MAX_LINES && this.bytes + bytes <= MAX_BYTES);
  }

  /** Resolves when there is room for a line of so many bytes, or no more are to begin. */
  async room(bytes: number): Promise<void> {
    while (!this.hasRoom(bytes) && !this.isStopped) await this.taken.next();
  }

  /** Begins a line. Its outcome is to be told once. */
  begin(bytes: number): (outcome: Outcome) => void {
    const slot: Slot<Outcome> = { bytes, outcome: null };
    this.slots.push(slot);
    this.bytes += bytes;
    return (outcome) => {
      slot.outcome = outcome;
      if (this.slots[0] === slot) this.changed.give();
    };
  }

  /** When this is done, no more lines begin. What it rejects with is thrown behind the last outcome. */
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

  /** No more lines begin from now on: nobody takes their outcomes, or `error` is thrown behind the last one. */
  stop(error?: DomainError): void {
    if (error !== undefined) this.failure ??= { error };
    this.isStopped = true;
    this.hasEnded = true;
    this.taken.give();
    this.changed.give();
  }

  /** The outcomes, in groups of those that are known. */
  async *outcomes(): AsyncGenerator<readonly Outcome[], void> {
    for (;;) {
      const known = this.takeKnown();
      if (known.length > 0) {
        yield known;
        continue;
      }
      if (this.hasEnded && this.slots.length === 0) break;
      await this.changed.next();
      // The rows of a statement are told one by one, in one turn.
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

/** Wakes the one who waits for it; what was given while nobody waited is there for the next one. */
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
