import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startOwned, UserError, type OwnedProcess } from '../processes.ts';
import { repositoryRoot } from '../root.ts';

export interface AppProcess {
  readonly name: string;
  readonly process: OwnedProcess;
  /** Why it ended, in as few lines as its log allows. */
  faultOf(reason: string): UserError;
}

/** Starts one of the apps; its output goes to `logFile`. */
export async function startApp(
  name: string,
  entry: string,
  env: NodeJS.ProcessEnv,
  logFile: string,
): Promise<AppProcess> {
  const log = openSync(logFile, 'w', 0o600);
  try {
    const child = await startOwned(process.execPath, [join(repositoryRoot, entry)], {
      cwd: repositoryRoot,
      env,
      stdio: ['ignore', log, log],
      stopSignal: 'SIGTERM',
    });
    return {
      name,
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

/** The apps say one line a fault in plain text before they have a logger, and JSON lines after. */
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
