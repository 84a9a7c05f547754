import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { APP_FLAGS, startOwned, UserError, type OwnedProcess } from '../processes.ts';
import { repositoryRoot } from '../root.ts';

const QUICK_END_MS = 5_000;
const MAX_QUICK_ENDS = 3;

export interface AppSettings {
  name: string;
  /** Relative to the repository. */
  entry: string;
  args?: readonly string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
}

export interface AppProcess {
  readonly process: OwnedProcess;
  /** Returns the reason of its end, in few lines. */
  faultOf(reason: string): UserError;
}

/** An app that is restarted when it ends, as in a deployment. */
export interface App {
  /** Rejects if the app ends before `settle`, or repeatedly ends soon after its start. */
  readonly failed: Promise<never>;
  /** From now on, the app is restarted when it ends. */
  settle(): void;
  stop(deadlineMs: number): Promise<void>;
}

/** Starts an app. Before `settle`, its end is a failed start, probably because of its environment. */
export async function startApp(settings: AppSettings): Promise<App> {
  let current = await spawnApp(settings, 'w');
  let isSettled = false;
  let isStopping = false;

  const keepRunning = async (): Promise<never> => {
    for (let quickEnds = 0; ;) {
      const startedAt = Date.now();
      const reason = await current.process.ended;
      // A requested stop is not a failure.
      if (isStopping) return new Promise<never>(() => undefined);
      quickEnds = Date.now() - startedAt < QUICK_END_MS ? quickEnds + 1 : 0;
      if (!isSettled || quickEnds === MAX_QUICK_ENDS) throw current.faultOf(reason);
      console.log(`The ${settings.name} ended (${reason}). Restarting it.`);
      current = await spawnApp(settings, 'a');
    }
  };
  const failed = keepRunning();
  failed.catch(() => undefined);
  return {
    failed,
    settle() {
      isSettled = true;
    },
    async stop(deadlineMs) {
      isStopping = true;
      await current.process.stop(deadlineMs);
    },
  };
}

async function spawnApp({ name, entry, args = [], env, logFile }: AppSettings, flag: 'w' | 'a'): Promise<AppProcess> {
  const log = openSync(logFile, flag, 0o600);
  try {
    const child = await startOwned(process.execPath, [...APP_FLAGS, join(repositoryRoot, entry), ...args], {
      cwd: repositoryRoot,
      env,
      stdio: ['ignore', log, log],
      stopSignal: 'SIGTERM',
    });
    return {
      process: child,
      faultOf(reason) {
        const lines = faultLines(readFileSync(logFile, 'utf8'));
        return new UserError(
          lines.length > 0 ? lines.join('\n') : `The ${name} ended (${reason}); its log is ${logFile}`,
        );
      },
    };
  } finally {
    closeSync(log);
  }
}

/** Returns the error lines of a log. Apps log JSON; Node itself prints plain lines. */
function faultLines(log: string): string[] {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  const faults = lines.flatMap((line) => {
    if (!line.startsWith('{')) return [line];
    try {
      const { level, msg, err }: { level?: unknown; msg?: unknown; err?: { message?: unknown } } = JSON.parse(line);
      const severe = typeof level === 'number' ? level >= 50 : level === 'error' || level === 'fatal';
      return severe ? [[msg, err?.message].filter((text) => typeof text === 'string').join(': ')] : [];
    } catch {
      return [line];
    }
  });
  return [...new Set(faults)].slice(-10);
}
