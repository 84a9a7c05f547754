import { readFileSync } from 'node:fs';
import { commandOf, reportError } from '../processes.ts';

const HARD_DEADLINE_MS = 30_000;

/** Thrown during a start after a request to stop. */
export class Interrupted extends Error {}

/** Runs services and stops them in reverse order, whatever ends the run. */
export class Lifetime {
  readonly abort = new AbortController();
  private readonly stops: (() => Promise<unknown> | void)[] = [];

  constructor() {
    const stop = () => this.abort.abort();
    // Ctrl-C arrives twice, from the terminal and through npm, so a repetition has no meaning.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
    // If run.mjs or npm is killed, no signal arrives.
    if (process.channel) process.once('disconnect', stop);
    if (process.env['npm_lifecycle_event'] !== undefined && !process.channel) {
      const npm = npmProcess();
      setInterval(() => npmProcess() === npm || stop(), 1_000).unref();
    }
  }

  onStop(stop: () => Promise<unknown> | void): void {
    this.stops.push(stop);
  }

  /** Called between two steps of a start. @throws Interrupted if the run must end */
  checkpoint(): void {
    if (this.abort.signal.aborted) throw new Interrupted();
  }

  /** Resolves when the run must end. */
  stopRequested(): Promise<void> {
    const { signal } = this.abort;
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Runs `body`, then stops everything and ends the process: with 0 after a signal, otherwise with 1. */
  async run(body: () => Promise<void>): Promise<never> {
    let exitCode = 0;
    try {
      await body();
    } catch (error) {
      if (!this.abort.signal.aborted) exitCode = reportError(error);
    }
    // Watchdogs end the remaining processes when this one exits.
    setTimeout(() => process.exit(1), HARD_DEADLINE_MS).unref();
    for (const stop of this.stops.reverse()) {
      try {
        await stop();
      } catch (error) {
        exitCode = reportError(error);
      }
    }
    process.exit(exitCode);
  }
}

/** Returns the process of npm: our parent, or the parent of the shell in between on some systems. */
function npmProcess(): number {
  const parent = process.ppid;
  if (!commandOf(parent).includes('tools/run.mjs')) return parent;
  try {
    // The fields after the command's name in parentheses, which can contain anything: state, parent, …
    const [, grandparent] = readFileSync(`/proc/${parent}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return Number(grandparent);
  } catch {
    return parent;
  }
}
