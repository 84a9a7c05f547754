import { DomainError } from '@iss/domain';
import { telemetry } from '@iss/platform';
import { StatementGivenUp } from './db-errors';
import type { LoneStatements } from './lone-statements';
import { type Queued, Turns } from './turns';

/** What became of one row of a shared statement; `tooLarge`: it is to be asked alone. */
export type Outcome<Output> = { value: Output } | { error: unknown } | 'tooLarge';

/** What requests share, and what of it they do not. */
export interface Shared<Input, Output> {
  /**
   * Answers the rows of one statement in their order. Must leave nothing behind when it throws, but for an unreachable
   * database, of which nobody knows. `isAlone`: this row has the statement for itself, and is never `tooLarge`.
   */
  run: (inputs: readonly Input[], isAlone: boolean) => Promise<readonly Outcome<Output>[]>;
  maxRows: number;
  maxRunning: number;
  lone: LoneStatements;
  /** Whose turn a row takes. */
  whoseOf?: (input: Input) => string;
  /** Rows with the same key never share a statement: each would not see what the other writes. */
  keysOf?: (input: Input) => readonly string[];
  /** Characters of what is large in it. */
  sizeOf?: (input: Input) => number;
}

interface Waiting<Input, Output> extends Queued<Waiting<Input, Output>> {
  input: Input;
  size: number;
  resolve: (output: Output) => void;
  reject: (error: unknown) => void;
}

/**
 * Whoever waits for half as long as a statement takes gets one of its own, if fewer than `maxRunning` run: after these
 * milliseconds at the least, which a timer has anyway, and at the most.
 */
const PATIENCE_MS = { least: 1, most: 5 };

/**
 * Half as many rows as statements held lately are worth one of their own while another one runs, so that callers who all
 * wait for one answer part into two groups: one is served while the database works for the other. Fewer are not worth what
 * a statement costs besides its rows.
 */
const LEAST_ENOUGH = 8;

/** How much the last statement counts in what is expected of the next. */
const RECENT = 1 / 8;

/** A row with a larger input has a statement for itself. */
export const LARGE_INPUT = 64 * 1024;
/** Of all inputs of a shared statement together. */
export const SHARED_INPUT = 256 * 1024;
/** A row with a larger answer, in bytes of its documents, is `tooLarge` for a shared statement. */
export const LARGE_ANSWER = 64 * 1024;
/** More than any answer has. */
export const ANY_BYTES = 2 ** 31 - 1;

/**
 * Lets concurrent requests of one process share a statement. A request that comes while nothing runs starts at once;
 * those that come while a statement runs wait together for its end, but no longer than until they are enough for another,
 * so that the database works while rows are made, nor than their patience, so that a slow statement holds nobody up. What
 * is enough, and how long patience lasts, follows from the statements before. An
 * idle service adds no delay, and a busy one sends fewer, larger statements. A statement holds only requests that came
 * before it began: each sees all that was committed before it asked.
 *
 * Nobody pays for a stranger (docs/limits.md, "Shared statements"):
 * - owners take turns, and none has more than half of a statement while others wait;
 * - what is large, asked or answered, has a statement for itself, of which few run at once ({@link LoneStatements});
 * - when a statement fails as a whole, or is given up since it takes too long, each of its rows is tried alone. Whoever
 *   fails, or is slow, alone too rides alone afterwards, for as many rows as strangers were held up;
 * - an unreachable database, which may have kept the rows, fails them all at once: nothing is written twice.
 */
export class Coalescer<Input, Output> {
  private readonly waiting = new Turns<Waiting<Input, Output>>();
  private running = 0;
  private patience: NodeJS.Timeout | undefined;
  private due: NodeJS.Immediate | undefined;
  /** Rows of a statement, and milliseconds that it takes, as they were lately. */
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
      // Deferred, so that requests read from the network in the same turn go out together.
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
    const goOn = (): void => {
      this.usualMs += (performance.now() - startedAt - this.usualMs) * RECENT;
      this.running -= 1;
      this.start();
    };
    this.runTogether(rows).then(goOn, goOn);
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

  /** Whoever's turn it is, the statement is done for the requests whose rows it holds. */
  private run(rows: readonly Waiting<Input, Output>[], isAlone: boolean): Promise<readonly Outcome<Output>[]> {
    const inputs = rows.map((row) => row.input);
    const { tracer } = telemetry;
    return tracer === null
      ? this.shared.run(inputs, isAlone)
      : tracer.carrying(rows, () => this.shared.run(inputs, isAlone));
  }

  /** `isToBlame`: it fails alone too, or takes longer than `shareMs`. */
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

/** One row that failed would fail again, unless it only had too little time. */
function mayBeTriedAlone(error: unknown, rows: number): boolean {
  if (error instanceof StatementGivenUp) return true;
  return rows > 1 && !(error instanceof DomainError && error.code === 'unavailable');
}

function settle<Output>(
  row: { resolve: (output: Output) => void; reject: (error: unknown) => void },
  outcome: Outcome<Output> | undefined,
): void {
  if (outcome === undefined) row.reject(new Error('a shared statement answered fewer rows than it was given'));
  else if (outcome === 'tooLarge') row.reject(new Error('a statement of its own is never too large'));
  else if ('value' in outcome) row.resolve(outcome.value);
  else row.reject(outcome.error);
}
