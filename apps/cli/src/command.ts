import type { OperatorEnv } from '@iss/platform';
import { UsageError } from './errors';
import type { Settings, Started } from './settings';

export { Failure, UsageError } from './errors';

/** The given arguments and options by name: a text, a list if the option can be repeated, or true for a flag. */
export type Options = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** A positional argument. */
export interface ArgumentSpec {
  name: string;
  about: string;
  /** The name in the usage line. Defaults to the name in capitals. */
  label?: string;
  isOptional?: boolean;
  /** The allowed values, unless `read` checks them. Shell completion offers them. */
  choices?: readonly string[];
  /** As for options. */
  isShared?: boolean;
  /** Parses the text. @throws UsageError that names the option */
  read?: (text: string, name: string) => unknown;
}

/** Options that exclude each other. */
export interface OptionGroup {
  /** The error message if none is given. If absent, none is required. */
  required?: string;
}

/** An option: a flag unless it takes a value. */
export interface OptionSpec {
  about: string;
  /** The placeholder of its value, such as FILE. */
  value?: string;
  /** The allowed values, unless `read` checks them. Shell completion offers them. */
  choices?: readonly string[];
  isRepeated?: boolean;
  /** The error message if the option is missing. If absent, the option is not required. */
  required?: string;
  group?: OptionGroup;
  /** Parses the text. @throws UsageError that names the option */
  read?: (text: string, name: string) => unknown;
  /** True for an option of many commands. Usage lines leave it out, and docs/cli.md describes it once. */
  isShared?: boolean;
}

/** The parts of the process that a command can use. */
export interface CommandContext {
  /** Reads the configuration of the service, for operator commands. @throws EnvError */
  env: () => Promise<OperatorEnv>;
  /** The raw environment and the service that `npm start` runs, for `iss doctor`. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly started: Started | null;
  readonly settings: Settings;
  readonly screen: Screen;
  /** Writes a result to standard output. */
  print: (text: string) => void;
  /** Writes progress or an error to standard error. */
  complain: (text: string) => void;
  /** Reads all of standard input. */
  input: () => Promise<string>;
  /** Asks a yes-or-no question. Resolves to null if standard input is not a terminal. */
  confirm: (question: string) => Promise<boolean | null>;
  /** Opens an address in the browser. Resolves to false if that fails. */
  browse: (url: string) => Promise<boolean>;
  /** Aborts on SIGINT or SIGTERM. A command that reads it must then stop by itself. */
  readonly signal: AbortSignal;
}

/** The capabilities of the output. */
export interface Screen {
  /** Standard output is a terminal that takes colours. */
  isColoured: boolean;
  /** Standard error is a terminal, so that a progress line can be overwritten. */
  isLive: boolean;
}

/** One command of `iss`. */
export interface Command {
  /** The description after the summary, for `--help` and docs/cli.md. */
  about?: string;
  /** The usage line without the name, if arguments and options alone do not determine it. Shared options are left out. */
  usage?: string;
  arguments?: readonly ArgumentSpec[];
  options: Readonly<Record<string, OptionSpec>>;
  /** @throws UsageError for wrong arguments; Failure if the work fails */
  run(options: Options, context: CommandContext): Promise<void>;
}

/** Sections of `iss --help` and docs/cli.md, in order. */
export const GROUPS = [
  'Identity',
  'Versions',
  'Proposals',
  'Sharing',
  'Evidence',
  'Feeds and archives',
  'Webhooks',
  'Transparency log',
  'Operators',
  'Tools',
] as const;

type CamelCase<Name extends string> = Name extends `${infer First} ${infer Rest}`
  ? `${CamelCase<First>}${Capitalize<CamelCase<Rest>>}`
  : Name extends `${infer First}-${infer Rest}`
    ? `${First}${Capitalize<CamelCase<Rest>>}`
    : Name;

/** The facts about a command that are known without loading it. */
export interface CommandEntry {
  group: (typeof GROUPS)[number];
  /** One imperative sentence. */
  summary: string;
  /** A typical call, of at most 76 characters. */
  example: string;
  load(): Promise<Command>;
}

/**
 * Returns the entries of commands that one module exports, each under its name in camel case: `pending confirm` as `pendingConfirm`.
 */
export function commandsOf<Name extends string>(
  group: CommandEntry['group'],
  load: () => Promise<Readonly<Record<CamelCase<Name>, Command>>>,
  words: Readonly<Record<Name, Pick<CommandEntry, 'summary' | 'example'>>>,
): Record<Name, CommandEntry>;
export function commandsOf(
  group: CommandEntry['group'],
  load: () => Promise<Readonly<Record<string, Command>>>,
  words: Readonly<Record<string, Pick<CommandEntry, 'summary' | 'example'>>>,
): Record<string, CommandEntry> {
  const entries = Object.entries(words).map(([name, entry]) => {
    const exported = name.replace(/[ -](\w)/g, (_separator, letter: string) => letter.toUpperCase());
    const loadOne = async (): Promise<Command> => {
      const { [exported]: command } = await load();
      if (command === undefined) throw new TypeError(`No module exports ${exported}.`);
      return command;
    };
    return [name, { group, ...entry, load: loadOne }];
  });
  return Object.fromEntries(entries);
}

/** Returns the text of an argument or option; undefined if it is not given. */
export function textOf(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns the text of a required option. @throws UsageError that names the option and `what` it takes */
export function requiredText(options: Options, name: string, what: string): string {
  const value = textOf(options, name);
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing: --${name} ${what}.`);
  return value;
}

export function hasFlag(options: Options, name: string): boolean {
  return options[name] === true;
}

/** Returns a whole number from `least` to `most`; undefined if it is not given. @throws UsageError */
export function numberOf(options: Options, name: string, [least, most]: readonly [number, number]): number | undefined {
  const text = textOf(options, name);
  return text === undefined ? undefined : wholeNumber(least, most)(text, name);
}

/** Returns a reader of whole numbers from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string, name: string) => number {
  return (text, name) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= least && value <= most) return value;
    throw new UsageError(`--${name} takes a whole number from ${least} to ${most}.`);
  };
}
