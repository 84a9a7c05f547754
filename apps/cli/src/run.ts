import type { CommandContext } from './command';
import { systemCode } from './files';
import { runWords } from './program';
import { visibleLines } from './visible';

/** Errors that print only their message, with their exit codes. Names avoid loading the classes. */
const EXIT_CODES: Readonly<Record<string, 1 | 2>> = {
  UsageError: 2,
  ConfigurationError: 2,
  UnreadableError: 2,
  EnvError: 2,
  TlogError: 2,
  MapError: 2,
  Failure: 1,
  VerificationError: 1,
  DomainError: 1,
};

/** Runs the command that the words name and returns its exit code: 0 success, 1 failure, 2 wrong usage. */
export async function runCommand(words: readonly string[], given: CommandContext): Promise<0 | 1 | 2> {
  const context = withEscapes(given);
  try {
    await runWords(words, context);
    return 0;
  } catch (error) {
    const exitCode = error instanceof Error ? EXIT_CODES[error.name] : undefined;
    if (error instanceof Error && exitCode !== undefined) {
      context.complain(error.message);
      return exitCode;
    }
    if (systemCode(error) === undefined || !(error instanceof Error)) throw error;
    // The message of Node names the file and the cause, such as a full disk.
    context.complain(`The command failed: ${error.message}.`);
    return 1;
  }
}

/** Returns a context that escapes all output, because any of it can contain foreign text. */
function withEscapes(context: CommandContext): CommandContext {
  const { isColoured, isLive } = context.screen;
  return {
    env: context.env,
    variables: context.variables,
    started: context.started,
    settings: context.settings,
    screen: context.screen,
    print: (text) => context.print(visibleLines(text, isColoured)),
    complain: (text) => context.complain(visibleLines(text, isColoured || isLive)),
    input: context.input,
    confirm: (question) => context.confirm(visibleLines(question, false)),
    browse: context.browse,
    // This is a getter, because the first read installs signal handlers.
    get signal() {
      return context.signal;
    },
  };
}
