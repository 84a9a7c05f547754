import { readFileSync } from 'node:fs';
import { commandOf, reportError } from '../processes.ts';

const HARD_DEADLINE_MS = 30_000;

/** Thrown inside a start that was told to stop. */
export class Interrupted extends Error {}

/** Runs what is to be stopped again, and stops it in the opposite order whatever ended the run. */
export class Lifetime {
  readonly abort = new AbortController();
  private readonly stops: (() => Promise<unknown> | void)[] = [];

  constructor() {
    const stop = () => this.abort.abort();
    // Ctrl-C reaches us twice, from the terminal and through npm, so that a repetition means nothing.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
    // run.mjs or npm may be killed in a way that lets nothing through.
    if (process.channel) process.once('disconnect', stop);
    if (process.env['npm_lifecycle_event'] !== undefined && !process.channel) {
      const npm = npmProcess();
      setInterval(() => npmProcess() === npm || stop(), 1_000).unref();
    }
  }

  onStop(stop: () => Promise<unknown> | void): void {
    this.stops.push(stop);
  }

  /** Between two steps of a start. @throws Interrupted when the run is to end. */
  checkpoint(): void {
    if (this.abort.signal.aborted) throw new Interrupted();
  }

  /** Settles when the run is to end. */
  stopRequested(): Promise<void> {
    const { signal } = this.abort;
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Runs `body`, then stops everything, then ends the process: with 0 after a signal, else with 1. */
  async run(body: () => Promise<void>): Promise<never> {
    let exitCode = 0;
    try {
      await body();
    } catch (error) {
      if (!this.abort.signal.aborted) exitCode = reportError(error);
    }
    // What is still there then is ended by the watchdogs, which see us go.
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

/** npm is our parent, or the parent of the shell that it runs scripts with and that some systems keep in between. */
function npmProcess(): number {
  const parent = process.ppid;
  if (!commandOf(parent).includes('tools/run.mjs')) return parent;
  try {
    // The fields after the command's name, which is in parentheses and may hold anything: state, parent, …
    const [, grandparent] = readFileSync(`/proc/${parent}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return Number(grandparent);
  } catch {
    return parent;
  }
}
