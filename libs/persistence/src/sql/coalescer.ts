import { DomainError } from '@iss/domain';
import { telemetry } from '@iss/platform';
import { StatementGivenUp } from './db-errors';
import type { LoneStatements } from './lone-statements';
import { type Queued, Turns } from './turns';

/** The result of one row of a shared statement. `tooLarge`: the row must run again alone. */
export type RowOutcome<Output> = { value: Output } | { error: unknown } | 'tooLarge';

/** The shared statement of concurrent requests, and its limits. */
export interface Shared<Input, Output> {
  /**
   * Runs one statement and returns the outcomes in the order of the rows. If it throws, it must have stored nothing, except when
   * the database is unreachable and nobody can know. `isAlone`: the statement has this row only, and its outcome is never
   * `tooLarge`.
   */
  run: (inputs: readonly Input[], isAlone: boolean) => Promise<readonly RowOutcome<Output>[]>;
  maxRows: number;
  maxRunning: number;
  lone: LoneStatements;
  /** The owner whose turn a row takes. */
  whoseOf?: (input: Input) => string;
  /**
   * Returns the keys of a row. Rows with a common key never share a statement, because neither would see what the other writes.
   */
  keysOf?: (input: Input) => readonly string[];
  /** Returns the number of characters in the large members of a row. */
  sizeOf?: (input: Input) => number;
}

interface Waiting<Input, Output> extends Queued<Waiting<Input, Output>> {
  input: Input;
  size: number;
  resolve: (output: Output) => void;
  reject: (error: unknown) => void;
}

/**
 * The shortest and longest wait in milliseconds (a timer takes at least 1 ms). A row that has waited for half the usual duration
 * of a statement gets another statement if fewer than `maxRunning` run.
 */
const PATIENCE_MS = { least: 1, most: 5 };

/**
 * The smallest number of waiting rows that starts another statement while one runs. The usual threshold is half the recent number
 * of rows per statement. It splits callers that wait for one answer into two groups, and the database works for one while the
 * other is served. With fewer rows, the fixed cost of a statement outweighs the gain.
 */
const LEAST_ENOUGH = 8;

/** The weight of the last statement in the moving averages. */
const RECENT = 1 / 8;

/** A row with a larger input (in characters) runs alone. */
export const LARGE_INPUT = 64 * 1024;
/** The maximum size of all inputs of a shared statement together. */
export const SHARED_INPUT = 256 * 1024;
/** A row whose answer has larger documents (in bytes) is `tooLarge` for a shared statement. */
export const LARGE_ANSWER = 64 * 1024;
/** A limit that is larger than any answer. */
export const ANY_BYTES = 2 ** 31 - 1;

/**
 * Lets concurrent requests of one process share a statement. A request that arrives while nothing runs starts at once. Requests
 * that arrive while a statement runs wait for its end. They start earlier if they are numerous enough for another statement, or
 * have waited too long. Both limits follow from recent statements.
 *
 * An idle service adds no delay, and a busy one sends fewer, larger statements. A statement has only requests that arrived before
 * it began, so each sees everything that was committed before it asked.
 *
 * Nobody pays for a stranger (docs/limits.md, "Shared statements"):
 * - Owners take turns, and none has more than half of a statement while others wait.
 * - A row with a large input or answer runs alone, and few such statements run at once ({@link LoneStatements}).
 * - If a statement fails as a whole or times out, each of its rows is tried alone. An owner whose row fails or is slow again then
 *   runs alone for as many rows as strangers were delayed.
 * - If the database is unreachable, it may have stored the rows. All of them fail at once, so nothing is written twice.
 */
export class Coalescer<Input, Output> {
  private readonly waiting = new Turns<Waiting<Input, Output>>();
  private running = 0;
  private patience: NodeJS.Timeout | undefined;
  private due: NodeJS.Immediate | undefined;
  /** Moving averages: rows per statement, and milliseconds per statement. */
  private usualRows = 2 * LEAST_ENOUGH;
  private usualMs = 2 * PATIENCE_MS.least;

  constructor(private readonly shared: Shared<Input, Output>) {}

  submit(input: Input): Promise<Output> {
    const { whoseOf, sizeOf, lone } = this.shared;
    const whose = whoseOf?.(input) ?? '';
    const size = sizeOf?.(input) ?? 0;
    return new Promise<Output>((resolve, reject) => {
      const row = { whose, input, size, resolve, reject, next: null };
      telemetry.tracer?.note(row);
      if (size > LARGE_INPUT || lone.paysFor(whose)) {
        this.runAlone(row);
        return;
      }
      this.waiting.push(row);
      // Deferred, so that requests read from the network in the same turn of the event loop share a statement.
      if (this.running === 0 || this.isEnough()) this.due ??= setImmediate(() => this.start());
      else this.wait();
    });
  }

  private isEnough(): boolean {
    const most = Math.ceil(this.shared.maxRows / 2);
    return this.waiting.size >= Math.min(most, Math.max(LEAST_ENOUGH, this.usualRows / 2));
  }

  private wait(): void {
    const { least, most } = PATIENCE_MS;
    this.patience ??= setTimeout(() => this.start(), Math.min(most, Math.max(least, this.usualMs / 2)));
  }

  private start(): void {
    clearTimeout(this.patience);
    clearImmediate(this.due);
    this.patience = undefined;
    this.due = undefined;
    if (this.running >= this.shared.maxRunning || this.waiting.size === 0) return;
    const rows = this.take();
    const startedAt = performance.now();
    this.usualRows += (rows.length - this.usualRows) * RECENT;
    this.running += 1;
    const finish = (): void => {
      this.usualMs += (performance.now() - startedAt - this.usualMs) * RECENT;
      this.running -= 1;
      this.start();
    };
    this.runTogether(rows).then(finish, finish);
    if (this.isEnough()) this.start();
    else if (this.waiting.size > 0) this.wait();
  }

  private take(): Waiting<Input, Output>[] {
    const { keysOf, maxRows } = this.shared;
    const keys = new Set<string>();
    let size = 0;
    return this.waiting.take(maxRows, (row) => {
      if (size + row.size > SHARED_INPUT) return false;
      if (keysOf !== undefined) {
        const rowKeys = keysOf(row.input);
        if (rowKeys.some((key) => keys.has(key))) return false;
        rowKeys.forEach((key) => keys.add(key));
      }
      size += row.size;
      return true;
    });
  }

  private async runTogether(rows: readonly Waiting<Input, Output>[]): Promise<void> {
    const startedAt = performance.now();
    try {
      const outcomes = await this.run(rows, false);
      rows.forEach((row, index) => {
        const outcome = outcomes[index];
        if (outcome === 'tooLarge') this.runAlone(row);
        else settle(row, outcome);
      });
    } catch (error) {
      if (!mayBeTriedAlone(error, rows.length)) {
        rows.forEach((row) => row.reject(error));
        return;
      }
      const elapsedMs = performance.now() - startedAt;
      const shareMs = error instanceof StatementGivenUp ? elapsedMs / rows.length : Infinity;
      for (const row of rows) {
        const strangers = rows.filter(({ whose }) => whose !== row.whose).length;
        this.runAlone(row, () => this.shared.lone.charge(row.whose, strangers), shareMs);
      }
    }
  }

  /** Runs one statement, and traces it for all requests whose rows it has. */
  private run(rows: readonly Waiting<Input, Output>[], isAlone: boolean): Promise<readonly RowOutcome<Output>[]> {
    const inputs = rows.map((row) => row.input);
    const { tracer } = telemetry;
    return tracer === null
      ? this.shared.run(inputs, isAlone)
      : tracer.carrying(rows, () => this.shared.run(inputs, isAlone));
  }

  /** Runs a row alone, and calls `isToBlame` if it fails or takes longer than `shareMs`. */
  private runAlone(row: Waiting<Input, Output>, isToBlame = (): void => undefined, shareMs = Infinity): void {
    const { lone } = this.shared;
    lone
      .run(row.whose, async () => {
        const startedAt = performance.now();
        let failed = true;
        try {
          const [outcome] = await this.run([row], true);
          failed = false;
          return outcome;
        } finally {
          if (failed || performance.now() - startedAt > shareMs) isToBlame();
        }
      })
      .then((outcome) => settle(row, outcome), row.reject);
  }
}

/** A single row that failed would fail again, unless it timed out. */
function mayBeTriedAlone(error: unknown, rows: number): boolean {
  if (error instanceof StatementGivenUp) return true;
  return rows > 1 && !(error instanceof DomainError && error.code === 'unavailable');
}

function settle<Output>(
  row: { resolve: (output: Output) => void; reject: (error: unknown) => void },
  outcome: RowOutcome<Output> | undefined,
): void {
  if (outcome === undefined) row.reject(new Error('a shared statement returned fewer rows than it received'));
  else if (outcome === 'tooLarge') row.reject(new Error('a row that runs alone was too large'));
  else if ('value' in outcome) row.resolve(outcome.value);
  else row.reject(outcome.error);
}
