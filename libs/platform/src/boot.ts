import { DomainError } from '@iss/domain';
import { EnvError } from './env';

/** The line that says that a port is in use, by the variable that moves it. */
export function portTaken(variable: string): string {
  return `${variable} is taken by another process: stop it, or set ${variable} to a free port`;
}

/** The line that says why the process cannot start, for the failures that its operator can mend. */
function explain(error: unknown, portVariable: string): string {
  if (error instanceof EnvError) return error.lines.join('\n');
  if (error instanceof DomainError) return `${error.message} (DATABASE_URL)`;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return portTaken(portVariable);
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * Runs a process's `main`. When it fails, writes one clear line to standard error (one a faulty variable) and exits 1.
 * `portVariable` names the variable of the port that the process listens on.
 */
export function boot(main: () => Promise<void>, portVariable: string): void {
  main().catch((error: unknown) => {
    process.stderr.write(`${explain(error, portVariable)}\n`);
    process.exit(1);
  });
}
