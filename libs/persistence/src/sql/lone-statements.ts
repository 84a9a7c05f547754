import { telemetry } from '@iss/platform';
import { type Queued, Turns } from './turns';

interface Task extends Queued<Task> {
  start: () => void;
}

/** The number of owners whose debts are remembered. If there are more, the oldest debt is forgiven. */
const MAX_DEBTORS = 1_000;
/** If an owner causes the failure again within this time, its debt is twice the last one, up to `MAX_DEBT`. */
const REPEATED_MS = 60_000;
const MAX_DEBT = 100_000;

interface Debt {
  /** The number of requests that must still run alone. */
  owed: number;
  /** The number that was owed at first. */
  incurred: number;
  atMs: number;
}

/**
 * Runs statements that requests must not share: large ones, and those whose shared statement failed. A limited number run at
 * once, and each owner has at most one fewer, so an owner with many or slow statements does not block the others.
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

  /** Runs `work` when it is this owner's turn, and returns its result. */
  run<T>(whose: string, work: () => Promise<T>): Promise<T> {
    // A request that ends starts the next one, which must keep its own trace context.
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

  /** Charges an owner for the requests of others that ran alone because of it: at least as many of its own will run alone. */
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

  /** Returns true if this owner's request must run alone, and reduces its debt by one. */
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
    // One at a time: an owner's limit depends on the statements that were just started.
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
