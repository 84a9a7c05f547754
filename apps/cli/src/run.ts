import type { CommandContext } from './command';
import { runWords } from './program';

/** Errors that are said in a sentence, with the exit code. By name: their classes would be loaded for nothing. */
const EXIT_CODES: Readonly<Record<string, 1 | 2>> = {
  UsageError: 2,
  UnreadableError: 2,
  EnvError: 2,
  TlogError: 2,
  Failure: 1,
  RefusedError: 1,
  DomainError: 1,
};

/** Runs the command that the words name. Exit code: 0 done, 1 could not be done, 2 called wrongly; both with a sentence why. */
export async function runCommand(words: readonly string[], context: CommandContext): Promise<0 | 1 | 2> {
  try {
    await runWords(words, context);
    return 0;
  } catch (error) {
    const exitCode = error instanceof Error ? EXIT_CODES[error.name] : undefined;
    if (exitCode === undefined || !(error instanceof Error)) throw error;
    context.complain(error.message);
    return exitCode;
  }
}
