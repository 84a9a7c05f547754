import { appendFileSync, chmodSync, closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../../build.ts';
import { type OwnedProcess, reportError, startOwned, UserError } from '../../processes.ts';
import { TRIALS, type TrialName } from '../trials.ts';
import { requirePackages } from './packages.ts';
import { type Verdict, WORDS } from './verdict.ts';

const STOP_MS = 10_000;

/** A trial, with its own folder and everything that it has started and stops at its end. */
export class Trial {
  /** Below the machine's temporary folder; all users may enter it. */
  readonly folder: string;
  private readonly closings: (() => unknown)[] = [];
  private readonly verdicts: Verdict[] = [];

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `iss-trial-${name}-`));
    chmodSync(this.folder, 0o755);
  }

  /** Returns the path of a file or folder of the trial. */
  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  /** Registers a function for the end of the trial. The last one runs first. */
  atEnd(close: () => unknown): void {
    this.closings.push(close);
  }

  /**
   * Starts a program whose output goes to `<name>.log` in the folder. It is stopped when the trial ends or is killed.
   */
  async run(
    name: string,
    command: string,
    args: string[],
    options: {
      env?: Record<string, string | undefined>;
      account?: { uid?: number; gid?: number };
      stopSignal?: 'SIGINT' | 'SIGTERM';
    } = {},
  ): Promise<OwnedProcess> {
    const log = openSync(this.path(`${name}.log`), 'a');
    try {
      const started = await startOwned(command, args, {
        cwd: '/',
        env: { PATH: process.env['PATH'], LC_ALL: 'C', ...options.env },
        ...options.account,
        stdio: ['ignore', log, log],
        stopSignal: options.stopSignal ?? 'SIGTERM',
      });
      this.atEnd(() => started.stop(STOP_MS));
      return started;
    } finally {
      closeSync(log);
    }
  }

  /** Prints the progress. */
  say(text: string): void {
    console.error(`        ${text}`);
  }

  /** Prints a line of the verdict. */
  judge(holds: boolean, text: string): void {
    this.tell({ word: holds ? 'holds' : 'BROKEN', text });
  }

  /** Prints why a part cannot be tried here. */
  skip(text: string): void {
    this.tell({ word: 'skipped', text });
  }

  get isBroken(): boolean {
    return this.verdicts.some(({ word }) => word === 'BROKEN') || this.verdicts.every(({ word }) => word === 'skipped');
  }

  async close(isKept: boolean): Promise<void> {
    for (const close of this.closings.splice(0).reverse()) {
      // A failure must not prevent the others from closing.
      await Promise.resolve()
        .then(close)
        .catch((error: unknown) => console.error(error));
    }
    if (isKept) console.error(`Logs and data: ${this.folder}`);
    else rmSync(this.folder, { recursive: true, force: true });
  }

  private tell(verdict: Verdict): void {
    this.verdicts.push(verdict);
    const line = `${verdict.word.padEnd(WORDS.longest)}  ${verdict.text}`;
    console.log(line);
    appendFileSync(this.path('verdict'), `${line}\n`);
  }
}

/**
 * Runs a trial as a program. Builds the product, and reports missing packages. Exits with 0 if everything holds, and with 1 if
 * something is broken or nothing could be tried. The folder stays with `--keep`, or if something is broken.
 */
export async function runTrial(name: TrialName, work: (trial: Trial) => Promise<void>): Promise<void> {
  let trial: Trial | undefined;
  let isFailed = true;
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => reject(new UserError(`Ended by ${signal}.`)));
    process.once('uncaughtException', reject);
  });
  try {
    requirePackages(TRIALS[name].packages);
    await ensureBuilt();
    trial = new Trial(name);
    await Promise.race([work(trial), interrupted]);
    isFailed = trial.isBroken;
    process.exitCode = isFailed ? 1 : 0;
  } catch (error) {
    process.exitCode = reportError(error);
  } finally {
    await trial?.close(isFailed || process.argv.includes('--keep'));
  }
  // Handles that a broken trial left open must not keep the process alive.
  process.exit();
}
