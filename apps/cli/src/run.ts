import type { CommandContext } from './command';
import { systemCode } from './files';
import { runWords } from './program';
import { visibleLines } from './visible';

/** Errors that are said in a sentence, with the exit code. By name: their classes would be loaded for nothing. */
const EXIT_CODES: Readonly<Record<string, 1 | 2>> = {
  UsageError: 2,
  ConfigurationError: 2,
  UnreadableError: 2,
  EnvError: 2,
  TlogError: 2,
  Failure: 1,
  RefusedError: 1,
  DomainError: 1,
};

/** Runs the command that the words name. Exit code: 0 done, 1 could not be done, 2 called wrongly; both with a sentence why. */
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
    // A full disk, a folder that may not be written: Node's own message says what, and where.
    context.complain(`It could not be done: ${error.message}.`);
    return 1;
  }
}

/** Returns a context that escapes all that is printed and said: whatever it is made of, it may be foreign text. */
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
    // Reading it takes over the signals of the process.
    get signal() {
      return context.signal;
    },
  };
}
