import { DomainError } from '@iss/domain';
import { EnvError } from '../env/env';

/** Returns the message for a port in use. `variable` is the environment variable that changes the port. */
export function portTaken(variable: string): string {
  return `${variable} is taken by another process: stop it, or set ${variable} to a free port`;
}

/** Returns the messages of a failed start, written for the operator where the operator can fix the cause. */
function explain(error: unknown, portVariable: string): readonly string[] {
  if (error instanceof EnvError) return error.lines;
  if (error instanceof DomainError) return [`${error.message} (DATABASE_URL)`];
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return [portTaken(portVariable)];
  }
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

/** pino's numbers for the levels of log lines. */
const [WARN, FATAL] = [40, 60];

/**
 * Runs the `main` function of the process `name`. If it fails, writes one JSON line to standard error, in the format of
 * log lines (one for each faulty variable), and exits with 1. `portVariable` is the variable of the port that the
 * process listens on. Warnings of Node become such lines too, because Node writes text.
 */
export function boot(name: string, main: () => Promise<void>, portVariable: string): void {
  const write = (level: number, msg: string): void => {
    process.stderr.write(`${JSON.stringify({ level, time: new Date().toISOString(), name, msg })}\n`);
  };
  process.removeAllListeners('warning').on('warning', (warning) => write(WARN, String(warning)));
  main().catch((error: unknown) => {
    for (const msg of explain(error, portVariable)) write(FATAL, msg);
    process.exit(1);
  });
}
