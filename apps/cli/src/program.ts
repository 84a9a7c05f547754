import { Argument, Command as Words, CommanderError, Option } from 'commander';
import {
  type Command,
  type CommandContext,
  type CommandEntry,
  GROUPS,
  type Options,
  type OptionSpec,
  UsageError,
} from './command';
import { COMMANDS, OPERATORS_WORDS } from './commands';
import { VERSION } from './version';

const EXIT_CODES = [
  'Exit codes:',
  '  0  success',
  '  1  the check failed, or the operation was refused: standard error says why',
  '  2  called wrongly, or what was given is not what it should be',
].join('\n');

/** The words of `iss`: every command of the table, which is loaded when it is called. */
export function programOf(context: CommandContext): Words {
  const program = group('iss', null, context);
  program.version(VERSION, '--version', 'The version of this command.');
  for (const [name, entry] of Object.entries(COMMANDS)) {
    const words = name.split(' ');
    const parent = words.slice(0, -1).reduce((above, word) => below(above, word, context), program);
    const command = below(parent, words.at(-1) ?? '', context);
    command.summary(entry.summary);
    parent.hook('preSubcommand', async (_parent, called) => {
      if (called === command) await define(called, name, entry, context);
    });
  }
  return program;
}

/** Runs what the words say. Throws UsageError for words that say nothing, and what the command throws. */
export async function runWords(words: readonly string[], context: CommandContext): Promise<void> {
  // `iss help put` as `iss put --help`.
  const [first, ...rest] = words;
  const named = first === undefined || first === 'help' ? [...rest, '--help'] : words;
  const asked = named.at(-1) === '-h' ? [...named.slice(0, -1), '--help'] : named;
  requireHelpOfSomething(asked);
  try {
    await programOf(context).parseAsync(asked, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw new UsageError(`${sentenceOf(error.message)} iss --help lists every command.`);
  }
}

/** @throws UsageError for `--help` behind words that name no command */
function requireHelpOfSomething(words: readonly string[]): void {
  const asked = words.slice(0, words.indexOf('--help') + 1);
  const path = asked
    .slice(
      0,
      asked.findIndex((word) => word.startsWith('-')),
    )
    .join(' ');
  const isKnown = Object.keys(COMMANDS).some(
    (name) => `${name} `.startsWith(`${path} `) || `${path} `.startsWith(`${name} `),
  );
  if (asked.length > 0 && path !== '' && !isKnown) {
    throw new UsageError(`There is no command ${path}. iss --help lists every command.`);
  }
}

/** As wide as the narrowest terminal in use. */
const COLUMNS = 80;

/** A heading and a text of words, in lines that are indented as far as the heading is wide, or as said. */
function wrapped(heading: string, text: string, indent = heading.length): string {
  const lines: string[] = [];
  let line = heading === '' ? ' '.repeat(indent) : heading;
  let isBegun = false;
  for (const word of text.split(' ')) {
    if (isBegun && line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = ' '.repeat(indent);
      isBegun = false;
    }
    line += isBegun ? ` ${word}` : word;
    isBegun = true;
  }
  return [...lines, line].join('\n');
}

/** A command as it is written: `iss put FILE [--tenant ID]`. */
export function usageOf(name: string, command: Command): string {
  return ['iss', name, argumentsOf(command)].filter((part) => part !== '').join(' ');
}

/** The commands that begin with these words, in their groups. */
export function listOf(words: string): string {
  const found = Object.entries(COMMANDS).filter(([name]) => words === '' || name.startsWith(`${words} `));
  const width = Math.max(...found.map(([name]) => name.length));
  return GROUPS.map((title) => ({ title, members: found.filter(([, entry]) => entry.group === title) }))
    .filter(({ members }) => members.length > 0)
    .map(({ title, members }) =>
      [`${title}:`, ...members.map(([name, { summary }]) => wrapped(`  iss ${name.padEnd(width)}  `, summary))].join(
        '\n',
      ),
    )
    .join('\n\n');
}

function argumentsOf({ usage, arguments: names = [], options }: Command): string {
  if (usage !== undefined) return usage;
  return [
    ...names.map(({ name, isOptional }) => (isOptional === true ? `[${name.toUpperCase()}]` : name.toUpperCase())),
    ...Object.entries(options).map(([name, { value, isRepeated }]) => {
      const option = `[--${name}${value === undefined ? '' : ` ${value}`}]`;
      return isRepeated === true ? `${option}…` : option;
    }),
  ].join(' ');
}

/** Words that more words may follow. */
function group(name: string, parent: Words | null, { print }: CommandContext): Words {
  const words = new Words(name);
  const path = parent === null ? '' : pathOf(parent, name);
  words
    .exitOverride()
    .helpCommand(false)
    .helpOption('-h, --help', 'What it does and how it is called.')
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => print(text.trimEnd()),
      writeErr: () => undefined,
      getOutHelpWidth: () => COLUMNS,
    })
    .configureHelp({
      formatHelp: () => `${listOf(path)}\n\niss COMMAND --help says more of one.\n\n${EXIT_CODES}`,
    })
    .action(() => {
      const [unknown = ''] = words.args;
      const near = unknown === '' ? '' : nearest(path, unknown);
      const isOperators = path === '' && OPERATORS_WORDS.some((one) => one === unknown);
      if (isOperators) {
        throw new UsageError(
          `iss ${unknown} works on the database itself. Operators have it in the image, and in a clone as npx iss ${unknown}.`,
        );
      }
      throw new UsageError(`There is no such command.${near} There are:\n${listOf(path)}`);
    })
    .allowExcessArguments();
  return words;
}

function below(parent: Words, word: string, context: CommandContext): Words {
  const known = parent.commands.find((one) => one.name() === word);
  if (known !== undefined) return known;
  const made = group(word, parent, context);
  parent.addCommand(made);
  return made;
}

function pathOf(parent: Words, name: string): string {
  return parent.parent === null ? name : `${pathOf(parent.parent, parent.name())} ${name}`;
}

/** Options, arguments and the action of a command, from its module. */
async function define(words: Words, name: string, entry: CommandEntry, context: CommandContext): Promise<void> {
  const command = await entry.load();
  const { about, arguments: names = [], options } = command;
  const usage = usageOf(name, command);
  for (const argument of names) {
    const written = argument.name.toUpperCase();
    words.addArgument(new Argument(argument.isOptional === true ? `[${written}]` : `<${written}>`, argument.about));
  }
  for (const [option, spec] of Object.entries(options)) words.addOption(optionOf(option, spec));
  words
    .description([entry.summary, ...(about === undefined ? [] : [about])].join('\n\n'))
    .allowExcessArguments(false)
    .configureHelp({ commandUsage: () => wrapped('', usage, 7).trimStart(), visibleCommands: () => [] })
    .addHelpText('after', ['', 'Example:', `  ${entry.example}`, '', EXIT_CODES].join('\n'))
    .exitOverride((error) => {
      if (error.exitCode === 0) throw error;
      throw new UsageError(`${sentenceOf(error.message)}\nUsage: ${usage}`);
    })
    .action(() => command.run(givenTo(words, command), context));
}

function optionOf(name: string, { about, value, isRepeated }: OptionSpec): Option {
  const option = new Option(value === undefined ? `--${name}` : `--${name} <${value}>`, about);
  if (isRepeated === true) option.argParser((text: string, before: string[] = []) => [...before, text]);
  return option;
}

function givenTo(words: Words, { arguments: names = [], options }: Command): Options {
  const values: Record<string, unknown> = words.opts();
  return Object.fromEntries(
    [
      ...names.map(({ name }, index) => [name, words.args[index]]),
      ...words.options.map((option) => {
        const value = values[option.attributeName()];
        // `--no-log` is the flag of that name here, and not the absence of a `--log`.
        return [option.name(), option.negate ? value === false : value];
      }),
    ].filter(([name]) => typeof name === 'string' && (name in options || names.some((one) => one.name === name))),
  );
}

/** `error: unknown option '--x'` as a sentence. */
function sentenceOf(message: string): string {
  const text = message.replace(/^error: /, '').replace(/\.$/, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace('\n', ' ')}.`;
}

/** The command that was meant, if one is but a slip away. */
function nearest(path: string, word: string): string {
  const names = Object.keys(COMMANDS).map((name) => (path === '' ? name : name.slice(path.length + 1)));
  const near = names.filter((name) => isNear(name, word));
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}

/** One letter changed, added, left out, or two swapped. */
function isNear(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  const [left, right] = [one.slice(start), other.slice(start)];
  const swapped = `${left.charAt(1)}${left.charAt(0)}${left.slice(2)}`;
  return left.slice(1) === right.slice(1) || left.slice(1) === right || left === right.slice(1) || swapped === right;
}
