import { applyDecorators } from '@nestjs/common';
import { plainToInstance, Transform } from 'class-transformer';
import { getMetadataStorage, IsIn, ValidateBy, validateSync } from 'class-validator';
import { withSecretFiles } from './secret-files';

/** A class whose properties are environment variables. An initializer is the default; `@IsOptional()` allows none. */
export type Variables<T extends object> = new () => T;

/**
 * A rule between variables. Rules also check text that its own check has refused, so that all faults are reported at
 * once.
 */
export type Unchecked = Readonly<Record<string, unknown>>;
export interface Rule {
  variable: string;
  /** Completes the sentence that starts with the variable's name. */
  expectation: string;
  holds: (env: Unchecked) => boolean;
}

/** The environment is not usable. Each line names one variable and what to set; no line contains a value. */
export class EnvError extends Error {
  override readonly name = 'EnvError';

  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
  }
}

/**
 * Reads, converts and checks the variables of a class. An empty variable counts as unset. A secret may be in the file that
 * `NAME_FILE` names.
 *
 * @throws EnvError with one line for each faulty variable
 */
export function readVariables<T extends object>(
  variables: Variables<T>,
  rules: readonly Rule[],
  source: NodeJS.ProcessEnv,
): T {
  const names = namesOf(variables);
  const { env, faults } = withSecretFiles(source, names);
  const set = Object.fromEntries(names.filter((name) => env[name]).map((name) => [name, env[name]]));
  const values = plainToInstance(variables, set, { exposeDefaultValues: true });
  const unchecked: Unchecked = Object.fromEntries(Object.entries(values));
  const expectations = [
    ...validateSync(values).flatMap(({ property, constraints = {} }) =>
      Object.values(constraints).map((expectation) => [property, expectation] as const),
    ),
    ...rules
      .filter(({ holds }) => !holds(unchecked))
      .map(({ variable, expectation }) => [variable, expectation] as const),
  ];
  const lines = new Map(faults);
  for (const [name, expectation] of expectations) {
    if (!lines.has(name)) lines.set(name, `${name} ${set[name] === undefined ? 'is not set: it ' : ''}${expectation}`);
  }
  if (lines.size > 0) throw new EnvError([...lines.values()]);
  return values;
}

/** Returns the names of all variables of a class, inherited ones included. */
export function namesOf(variables: Variables<object>): string[] {
  const metadata = getMetadataStorage().getTargetValidationMetadatas(variables, '', true, false);
  return [...new Set(metadata.map(({ propertyName }) => propertyName))];
}

/** Checks a text. `expectation` completes the sentence that starts with the variable's name. */
export function Text(expectation = 'must be a text', holds: (text: string) => boolean = () => true): PropertyDecorator {
  return CheckedText((text) => (holds(text) ? undefined : expectation), expectation);
}

/** Checks a text with `faultOf`, which returns the expectation that a text does not meet, or undefined. */
export function CheckedText(
  faultOf: (text: string) => string | undefined,
  expectation = 'must be a text',
): PropertyDecorator {
  const faultIn = (value: unknown): string | undefined => (typeof value === 'string' ? faultOf(value) : expectation);
  return ValidateBy({
    name: 'text',
    validator: {
      validate: (value: unknown) => faultIn(value) === undefined,
      defaultMessage: (context) => faultIn(context?.value) ?? expectation,
    },
  });
}

/** Converts a text with `parse`, which returns undefined for a text that is not valid. */
export function Parsed(expectation: string, parse: (text: string) => unknown): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? (parse(value) ?? value) : value)),
    ValidateBy({
      name: 'parsed',
      validator: {
        validate: (value: unknown) => value !== undefined && typeof value !== 'string',
        defaultMessage: () => expectation,
      },
    }),
  );
}

/** Converts a decimal integer from `min` to `max`. */
export function WholeNumber(min: number, max: number): PropertyDecorator {
  return Parsed(`must be a whole number from ${min} to ${max}`, (text) =>
    /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined,
  );
}

/** Converts `true` or `false`. */
export function Flag(): PropertyDecorator {
  return Parsed('must be true or false', (text) => ({ true: true, false: false })[text]);
}

/** Accepts one of several words. */
export function Word(words: readonly string[]): PropertyDecorator {
  return IsIn(words, { message: `must be one of ${words.join(', ')}` });
}

/** Accepts a URL with one of the schemes (`https:`), and keeps it as written. */
export function Url(schemes: readonly string[]): PropertyDecorator {
  const expectation = `must be a URL starting with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`;
  return Text(expectation, (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol));
}

/** The largest value of a cap or a rate. Counters are PostgreSQL integers. */
export const MAX_LIMIT_VALUE = 1_000_000_000;

/** A number that an environment variable sets, from 0 to `MAX_LIMIT_VALUE` where it names no other bounds. */
export interface Bound {
  variable: string;
  min?: number;
  max?: number;
  default: number;
}
type Bounds = Readonly<Record<string, Bound>>;
type VariableOf<T extends Bounds> = T[keyof T]['variable'];

/** Adds a whole number for each row of a table to the variables of a class. */
export function withBounds<B extends object, const T extends Bounds>(
  base: Variables<B>,
  bounds: T,
): Variables<B & Record<VariableOf<T>, number>> {
  const defaults = Object.fromEntries(Object.values(bounds).map((bound) => [bound.variable, bound.default]));
  const Base: new () => object = base;
  class Bounded extends Base {
    constructor() {
      super();
      Object.assign(this, defaults);
    }
  }
  for (const { variable, min = 0, max = MAX_LIMIT_VALUE } of Object.values(bounds)) {
    WholeNumber(min, max)(Bounded.prototype, variable);
  }
  // The constructor sets each variable of the table.
  return Bounded as Variables<B & Record<VariableOf<T>, number>>;
}

/** Returns the numbers of a table by its own names. */
export function boundValues<const T extends Bounds>(
  bounds: T,
  env: Record<VariableOf<T>, number>,
): Record<keyof T, number> {
  return mapBounds(bounds, ({ variable }) => env[variable as VariableOf<T>]);
}

/** Returns the defaults of a table. */
export function defaultsOf<const T extends Bounds>(bounds: T): Record<keyof T, number> {
  return mapBounds(bounds, (bound) => bound.default);
}

function mapBounds<T extends Bounds>(bounds: T, valueOf: (bound: Bound) => number): Record<keyof T, number> {
  const entries = Object.entries(bounds).map(([name, bound]) => [name, valueOf(bound)]);
  // The names are those of the table.
  return Object.fromEntries(entries) as Record<keyof T, number>;
}
