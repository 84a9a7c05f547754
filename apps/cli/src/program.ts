import { Argument, Command as Words, CommanderError, Option } from 'commander';
import {
  type ArgumentSpec,
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
  '  1  the check failed or the operation was refused; standard error says why',
  '  2  wrong usage or invalid input',
].join('\n');

/** Returns the parser of all commands. A command is loaded when it is called. */
export function programOf(context: CommandContext): Words {
  const program = group('iss', null, context);
  program.version(VERSION, '--version', 'Print the version.');
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

/** Runs the command that the words name. Throws UsageError for unknown words, and all that the command throws. */
export async function runWords(words: readonly string[], context: CommandContext): Promise<void> {
  // `iss help put` means `iss put --help`.
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

/** @throws UsageError for `--help` after words that name no command */
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
    throw new UsageError(`Unknown command ${path}. iss --help lists every command.`);
  }
}

/** The width of the narrowest terminal in use. */
const COLUMNS = 80;

/** Wraps a text after a heading. Further lines are indented by `indent`, by default the width of the heading. */
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

/** Returns the usage line without shared options, such as `iss put FILE`. */
export function usageOf(name: string, command: Command): string {
  return ['iss', name, argumentsOf(command)].filter((part) => part !== '').join(' ');
}

/** Lists the commands that start with these words, by group. */
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

function argumentsOf({ usage, arguments: args = [], options }: Command): string {
  if (usage !== undefined) return usage;
  const own = Object.entries(options).filter(([, { isShared }]) => isShared !== true);
  const parts = own.map(([name, spec]) => {
    const { group, isRepeated, required } = spec;
    if (group === undefined)
      return bracketed(optionText(name, spec), required !== undefined) + (isRepeated === true ? '…' : '');
    const members = own.filter(([, other]) => other.group === group);
    const texts = members.map(([one, other]) => optionText(one, other)).join(' | ');
    return group.required === undefined ? `[${texts}]` : `(${texts})`;
  });
  return [
    ...args.map((argument) => bracketed(labelOf(argument), argument.isOptional !== true)),
    ...new Set(parts),
  ].join(' ');
}

function bracketed(text: string, isRequired: boolean): string {
  return isRequired ? text : `[${text}]`;
}

function optionText(name: string, { value }: OptionSpec): string {
  return `--${name}${value === undefined ? '' : ` ${value}`}`;
}

/** Returns how usage lines write an argument. */
function labelOf({ name, label }: ArgumentSpec): string {
  return label ?? name.toUpperCase();
}

/** Makes the parser of a word that further words can follow. */
function group(name: string, parent: Words | null, { print }: CommandContext): Words {
  const words = new Words(name);
  const path = parent === null ? '' : pathOf(parent, name);
  words
    .exitOverride()
    .helpCommand(false)
    .helpOption('-h, --help', 'Print this help.')
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => print(text.trimEnd()),
      writeErr: () => undefined,
      getOutHelpWidth: () => COLUMNS,
    })
    .configureHelp({
      formatHelp: () => `${listOf(path)}\n\niss COMMAND --help describes a command.\n\n${EXIT_CODES}`,
    })
    .action(() => {
      const [unknown = ''] = words.args;
      const near = unknown === '' ? '' : nearest(path, unknown);
      const isOperators = path === '' && OPERATORS_WORDS.some((one) => one === unknown);
      if (isOperators) {
        throw new UsageError(
          `iss ${unknown} works on the database and is not in this package. Use the image, or npx iss ${unknown} in a clone.`,
        );
      }
      if (unknown === '') throw new UsageError(`Name a command. The commands are:\n${listOf(path)}`);
      const [name, help] = [`${path} ${unknown}`, `iss ${path}`].map((text) => text.trim());
      throw new UsageError(`Unknown command ${name}.${near} ${help} --help lists every command.`);
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

/** Loads a command and adds its options, arguments and action to the parser. */
async function define(words: Words, name: string, entry: CommandEntry, context: CommandContext): Promise<void> {
  const command = await entry.load();
  const { about, arguments: names = [], options } = command;
  const usage = usageOf(name, command);
  for (const argument of names) {
    const label = labelOf(argument);
    words.addArgument(new Argument(argument.isOptional === true ? `[${label}]` : `<${label}>`, argument.about));
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
        // Here `--no-log` is a flag of that name. It does not negate `--log`.
        return [option.name(), option.negate ? value === false : value];
      }),
    ].filter(([name]) => typeof name === 'string' && (name in options || names.some((one) => one.name === name))),
  );
}

/** Turns a message such as `error: unknown option '--x'` into a sentence. */
function sentenceOf(message: string): string {
  const text = message.replace(/^error: /, '').replace(/\.$/, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace('\n', ' ')}.`;
}

/** Suggests the commands that differ from the word by one typing error. */
function nearest(path: string, word: string): string {
  const names = Object.keys(COMMANDS).map((name) => (path === '' ? name : name.slice(path.length + 1)));
  const near = names.filter((name) => isNear(name, word));
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}

/** Returns whether one letter is changed, added or missing, or two are swapped. */
function isNear(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  const [left, right] = [one.slice(start), other.slice(start)];
  const swapped = `${left.charAt(1)}${left.charAt(0)}${left.slice(2)}`;
  return left.slice(1) === right.slice(1) || left.slice(1) === right || left === right.slice(1) || swapped === right;
}
