import { DomainError } from '@iss/domain';
import { EnvError } from './env';

/** The line that says that a port is in use, by the variable that moves it. */
export function portTaken(variable: string): string {
  return `${variable} is taken by another process: stop it, or set ${variable} to a free port`;
}

/** The lines that say why the process cannot start, for the failures that its operator can mend. */
function explain(error: unknown, portVariable: string): readonly string[] {
  if (error instanceof EnvError) return error.lines;
  if (error instanceof DomainError) return [`${error.message} (DATABASE_URL)`];
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return [portTaken(portVariable)];
  }
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

/** Level of the log lines of what ends a process, as pino numbers them. */
const FATAL = 60;

/**
 * Runs the `main` of the process `name`. When it fails, writes one JSON line to standard error (one a faulty variable), as log
 * lines are, and exits 1. `portVariable` names the variable of the port that the process listens on.
 */
export function boot(name: string, main: () => Promise<void>, portVariable: string): void {
  main().catch((error: unknown) => {
    const time = new Date().toISOString();
    for (const msg of explain(error, portVariable))
      process.stderr.write(`${JSON.stringify({ level: FATAL, time, name, msg })}\n`);
    process.exit(1);
  });
}
