import type { OperatorEnv } from '@iss/platform';
import { UsageError } from './errors';
import type { Settings, Started } from './settings';

export { Failure, UsageError } from './errors';

/** What was given for arguments and options, by name: a text, several where it may be repeated, true for a flag. */
export type Options = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** A word that stands alone. */
export interface ArgumentSpec {
  name: string;
  about: string;
  isOptional?: boolean;
  /** The words that there are: shells complete them. */
  choices?: readonly string[];
}

/** An option: a flag unless it takes a value. */
export interface OptionSpec {
  about: string;
  /** What its value is called, as FILE. */
  value?: string;
  /** The values that there are: shells complete them. */
  choices?: readonly string[];
  /** It may be given several times. */
  isRepeated?: boolean;
}

/** What a command has of the process that it runs in. */
export interface CommandContext {
  /** What a process of the service is configured by; for operators' commands. @throws EnvError */
  env: () => Promise<OperatorEnv>;
  /** The environment as it is, and what `npm start` runs beside where nothing else was named; for the doctor. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly started: Started | null;
  /** What is set for whoever calls the service. */
  readonly settings: Settings;
  /** Who looks at the result. */
  readonly screen: Screen;
  /** The result: standard output. */
  print: (text: string) => void;
  /** How far it is, and what is wrong: standard error. */
  complain: (text: string) => void;
  /** All of standard input. */
  input: () => Promise<string>;
  /** Asks a question that takes yes or no; null if standard input is no terminal. */
  confirm: (question: string) => Promise<boolean | null>;
  /** Shows an address in the browser; false where there is none. */
  browse: (url: string) => Promise<boolean>;
  /** Aborted when the process is asked to end; a command that reads it has to end then. */
  readonly signal: AbortSignal;
}

/** Where a result is shown. */
export interface Screen {
  /** Colours are shown: a terminal, and nobody said otherwise (NO_COLOR, CI). */
  isColoured: boolean;
  /** Standard error is a terminal: a line of progress may be written over. */
  isLive: boolean;
}

/** One command of `iss`. */
export interface Command {
  /** More than its summary: paragraphs, for `--help` and docs/cli.md. */
  about?: string;
  /** How it is written behind its name, where arguments and options alone do not say it. */
  usage?: string;
  arguments?: readonly ArgumentSpec[];
  options: Readonly<Record<string, OptionSpec>>;
  /** Throws {@link UsageError} for options that do not go together, and {@link Failure} when it could not be done. */
  run(options: Options, context: CommandContext): Promise<void>;
}

/** What a command belongs to, in the order of `iss --help`. */
export const GROUPS = [
  'Who you are',
  'Versions',
  'Proposals',
  'Sharing',
  'Feeds and archives',
  'Webhooks',
  'The transparency log',
  'Operators',
  'This command',
] as const;

/** A line of the table of commands: what is known of one without loading it. */
export interface CommandEntry {
  group: (typeof GROUPS)[number];
  /** What it does, in a line. */
  summary: string;
  /** How it is called, in a line of at most 76 characters. Those of docs/cli.md, with what they print, are in `test/page/examples.ts`. */
  example: string;
  load(): Promise<Command>;
}

/** The text of an argument or option; undefined where it is not given. */
export function textOf(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** The text of an argument or option that has to be there. @throws UsageError, which says what it is */
export function requiredText(options: Options, name: string, what: string): string {
  const value = textOf(options, name);
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing: --${name} ${what}.`);
  return value;
}

/** The values of an option that may be repeated. */
export function textsOf(options: Options, name: string): readonly string[] {
  const value = options[name];
  return typeof value === 'object' ? value : [];
}

/** One of the values that an option takes; undefined where it is not given. @throws UsageError */
export function choiceOf<Choice extends string>(
  options: Options,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const text = textOf(options, name);
  const choice = choices.find((one) => one === text);
  if (text === undefined || choice !== undefined) return choice;
  throw new UsageError(`--${name} takes one of ${choices.join(', ')}.`);
}

/** Whether a flag is given. */
export function hasFlag(options: Options, name: string): boolean {
  return options[name] === true;
}

/** A whole number from `least` to `most`; undefined where it is not given. @throws UsageError */
export function numberOf(options: Options, name: string, [least, most]: readonly [number, number]): number | undefined {
  const text = textOf(options, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`--${name} takes a whole number from ${least} to ${most}.`);
}
