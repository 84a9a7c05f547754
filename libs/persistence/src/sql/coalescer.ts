import { DomainError } from '@iss/domain';

/** What became of one row of a shared statement. */
export type Outcome<Output> = { value: Output } | { error: unknown };

interface Waiting<Input, Output> {
  input: Input;
  resolve: (output: Output) => void;
  reject: (error: unknown) => void;
}

/** Whoever waits longer than this for a statement to end gets one of its own, if fewer than `maxRunning` run. */
const PATIENCE_MS = 5;

/** So many rows are worth a statement of their own while another one runs: half of one, where that may hold fewer. */
const ENOUGH = 16;

/**
 * Lets concurrent requests of one process share a statement. A request that comes while nothing runs starts at once;
 * those that come while a statement runs wait together for its end, but no longer than until they are enough for another,
 * so that the database works while rows are made, nor than their patience, so that a slow statement holds nobody up. An
 * idle service adds no delay, and a busy one sends fewer, larger statements. A statement holds only requests that came
 * before it began: each sees all that was committed before it asked.
 *
 * `run` gets the rows of one statement and answers for each in the same order. When it fails as a whole and there was
 * more than one row, each row is run alone, so that a bad one does not fail its neighbours. It must therefore leave
 * nothing behind when it throws; an unreachable database, which may have kept the rows, fails them all at once.
 */
export class Coalescer<Input, Output> {
  private waiting: Waiting<Input, Output>[] = [];
  private running = 0;
  private patience: NodeJS.Timeout | undefined;
  private readonly enough: number;

  constructor(
    private readonly run: (inputs: readonly Input[]) => Promise<readonly Outcome<Output>[]>,
    private readonly limits: { maxRows: number; maxRunning: number },
    /** Rows with the same key never share a statement: each would not see what the other writes. */
    private readonly keyOf?: (input: Input) => readonly string[],
  ) {
    this.enough = Math.min(ENOUGH, Math.ceil(limits.maxRows / 2));
  }

  submit(input: Input): Promise<Output> {
    return new Promise<Output>((resolve, reject) => {
      this.waiting.push({ input, resolve, reject });
      // Deferred, so that requests read from the network in the same turn go out together.
      if (this.running === 0 || this.waiting.length === this.enough) setImmediate(() => this.start());
      else this.patience ??= setTimeout(() => this.start(), PATIENCE_MS);
    });
  }

  private start(): void {
    clearTimeout(this.patience);
    this.patience = undefined;
    if (this.running >= this.limits.maxRunning || this.waiting.length === 0) return;
    const rows = this.take();
    this.running += 1;
    const goOn = (): void => {
      this.running -= 1;
      this.start();
    };
    this.settle(rows).then(goOn, goOn);
    if (this.waiting.length > 0) this.patience = setTimeout(() => this.start(), PATIENCE_MS);
  }

  private take(): Waiting<Input, Output>[] {
    const { keyOf } = this;
    if (keyOf === undefined) return this.waiting.splice(0, this.limits.maxRows);
    const taken: Waiting<Input, Output>[] = [];
    const left: Waiting<Input, Output>[] = [];
    const keys = new Set<string>();
    for (const row of this.waiting) {
      const rowKeys = keyOf(row.input);
      if (taken.length < this.limits.maxRows && !rowKeys.some((key) => keys.has(key))) {
        rowKeys.forEach((key) => keys.add(key));
        taken.push(row);
      } else {
        left.push(row);
      }
    }
    this.waiting = left;
    return taken;
  }

  private async settle(rows: readonly Waiting<Input, Output>[]): Promise<void> {
    try {
      const outcomes = await this.run(rows.map((row) => row.input));
      rows.forEach((row, index) => {
        const outcome = outcomes[index];
        if (outcome === undefined) row.reject(new Error('a shared statement answered fewer rows than it was given'));
        else if ('value' in outcome) row.resolve(outcome.value);
        else row.reject(outcome.error);
      });
    } catch (error) {
      const alone = rows.length === 1 || (error instanceof DomainError && error.code === 'unavailable');
      if (alone) rows.forEach((row) => row.reject(error));
      else for (const row of rows) await this.settle([row]);
    }
  }
}
