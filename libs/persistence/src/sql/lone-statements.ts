import { telemetry } from '@iss/platform';
import { type Queued, Turns } from './turns';

interface Task extends Queued<Task> {
  start: () => void;
}

/** Owners whose debts are remembered; past them the oldest one is forgiven. */
const MAX_DEBTORS = 1_000;
/** Who does it again within this time owes twice as much as the last time, but no more than the bound. */
const REPEATED_MS = 60_000;
const MAX_DEBT = 100_000;

interface Debt {
  /** Requests that are still to be run alone. */
  owed: number;
  /** As many as were owed at first. */
  incurred: number;
  atMs: number;
}

/**
 * Runs one request's statement each, of what must not be shared: what is large, and what failed in company. A bounded
 * number run at once, and of one owner one fewer, so that whoever has many or slow ones keeps no other from its turn.
 */
export class LoneStatements {
  private readonly waiting = new Turns<Task>();
  private readonly runningOf = new Map<string, number>();
  private readonly debts = new Map<string, Debt>();
  private readonly maxOfOne: number;
  private running = 0;

  constructor(private readonly maxRunning: number) {
    this.maxOfOne = Math.max(1, maxRunning - 1);
  }

  /** What `work` gives, as soon as it is this owner's turn. */
  run<T>(whose: string, work: () => Promise<T>): Promise<T> {
    // Whoever ends has the next one begin, which is not done for it.
    const begin = telemetry.tracer?.bound(work) ?? work;
    return new Promise<T>((resolve, reject) => {
      const start = (): void => {
        this.running += 1;
        this.runningOf.set(whose, (this.runningOf.get(whose) ?? 0) + 1);
        begin()
          .then(resolve, reject)
          .finally(() => this.end(whose));
      };
      this.waiting.push({ whose, start, next: null });
      this.startNext();
    });
  }

  /** So many requests of others were run alone because of this owner's: as many of its own are to be, too. */
  charge(whose: string, requests: number): void {
    if (requests === 0) return;
    const before = this.debts.get(whose);
    const atMs = performance.now();
    const isRepeated = before !== undefined && atMs - before.atMs < REPEATED_MS;
    const incurred = Math.min(MAX_DEBT, isRepeated ? Math.max(requests, 2 * before.incurred) : requests);
    this.debts.delete(whose);
    this.debts.set(whose, { owed: incurred, incurred, atMs });
    const [oldest] = this.debts.keys();
    if (this.debts.size > MAX_DEBTORS && oldest !== undefined) this.debts.delete(oldest);
  }

  /** Whether this owner's request is to be run alone: takes one off what it owes. */
  paysFor(whose: string): boolean {
    const debt = this.debts.size === 0 ? undefined : this.debts.get(whose);
    if (debt === undefined || debt.owed === 0) return false;
    debt.owed -= 1;
    return true;
  }

  private startNext(): void {
    const free = this.maxRunning - this.running;
    if (free <= 0 || this.waiting.size === 0) return;
    const mayStart = ({ whose }: Task): boolean => (this.runningOf.get(whose) ?? 0) < this.maxOfOne;
    // One at a time: whether an owner may have another one depends on those that were just started.
    const [task] = this.waiting.take(1, mayStart);
    if (task === undefined) return;
    task.start();
    this.startNext();
  }

  private end(whose: string): void {
    this.running -= 1;
    const left = (this.runningOf.get(whose) ?? 1) - 1;
    if (left === 0) this.runningOf.delete(whose);
    else this.runningOf.set(whose, left);
    this.startNext();
  }
}
