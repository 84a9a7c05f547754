import type { OperatorEnv } from '@iss/platform';
import type { ParseArgsOptionsConfig } from 'node:util';

/** What was given for options, by name. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** What a command has of the process that it runs in. */
export interface CommandContext {
  /** @throws EnvError */
  env: () => OperatorEnv;
  /** The result: standard output. */
  print: (text: string) => void;
  /** How far it is, and what is wrong: standard error. */
  complain: (text: string) => void;
  /** Aborted when the process is asked to end; a command that reads it has to end then. */
  readonly signal: AbortSignal;
}

/** One command of `iss`. */
export interface Command {
  /** What it does, in a line. */
  summary: string;
  /** Its options, as they are written behind its name. */
  usage: string;
  options: ParseArgsOptionsConfig;
  /** The name, among the options, of the one word that stands alone; it must be there. */
  argument?: string;
  /** Throws {@link UsageError} for options that do not go together, and {@link Failure} when it could not be done. */
  run(options: Options, context: CommandContext): Promise<void>;
}

/** The command was called wrongly: exit code 2. The message says how to call it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** It was called rightly and could not be done: exit code 1. The message says why, and the way out. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** The text of an option; undefined where it is not given. */
export function textOf(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** Rows as a table for people: columns by the names of the members, as wide as they need to be. */
export function table(rows: readonly Readonly<Record<string, string>>[]): string {
  const [first] = rows;
  if (first === undefined) return '';
  const names = Object.keys(first);
  const lines = [Object.fromEntries(names.map((name) => [name, name.toUpperCase()])), ...rows];
  const widths = names.map((name) => Math.max(...lines.map((line) => (line[name] ?? '').length)));
  return lines
    .map((line) =>
      names
        .map((name, index) => (line[name] ?? '').padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
