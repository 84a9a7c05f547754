import {
  type ArgumentSpec,
  type Command,
  type CommandContext,
  type Options,
  type OptionSpec,
  UsageError,
} from './command';

type TextOf<Spec> = Spec extends { readonly read: (text: string, name: string) => infer T }
  ? T
  : Spec extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : string;
type ArgumentValue<Spec> = Spec extends { readonly isOptional: true } ? TextOf<Spec> | undefined : TextOf<Spec>;
type OptionValue<Spec> = Spec extends { readonly value: string }
  ? Spec extends { readonly isRepeated: true }
    ? readonly TextOf<Spec>[]
    : Spec extends { readonly required: string }
      ? TextOf<Spec>
      : TextOf<Spec> | undefined
  : boolean;

/** The arguments of a command by name, in order. */
export type Arguments = Readonly<Record<string, Omit<ArgumentSpec, 'name'>>>;
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** No arguments, or no options. */
export type None = Readonly<Record<never, never>>;

/** The values of arguments and options, with the types of their specifications. An option without a value is a flag. */
export type Values<A extends Arguments, O extends OptionSpecs> = {
  readonly [Name in keyof A]: ArgumentValue<A[Name]>;
} & { readonly [Name in keyof O]: OptionValue<O[Name]> };

/** The data of a command, whose work gets the values of its arguments and options. */
export interface Definition<A extends Arguments, O extends OptionSpecs> extends Pick<Command, 'about' | 'usage'> {
  readonly arguments?: A;
  readonly options?: O;
}

/** Makes a command from data. `run` starts after all values are read and checked. */
export function defineCommand<const A extends Arguments = None, const O extends OptionSpecs = None>(
  definition: Definition<A, O> & {
    readonly run: (values: Values<A, O>, context: CommandContext, options: Options) => Promise<void>;
  },
): Command {
  const { run } = definition;
  return commandOf(definition, {}, (values, context, options) => run(values, context, options));
}

/** Makes a command from data, with more options, which `run` reads from `options`. */
export function commandOf<A extends Arguments, O extends OptionSpecs>(
  { about, usage, arguments: args, options: specs }: Definition<A, O>,
  shared: OptionSpecs,
  run: (values: Values<A, O>, context: CommandContext, options: Options) => Promise<void>,
): Command {
  return {
    ...(about === undefined ? {} : { about }),
    ...(usage === undefined ? {} : { usage }),
    arguments: Object.entries<Arguments[string]>(args ?? {}).map(([name, spec]) => ({ name, ...spec })),
    options: { ...specs, ...shared },
    run: async (options, context) => run(readValues(args, specs, options), context, options),
  };
}

/** @throws UsageError for a missing or wrong value, or for options that exclude each other */
function readValues<A extends Arguments, O extends OptionSpecs>(
  args: A | undefined,
  specs: O | undefined,
  options: Options,
) {
  const values = [
    ...Object.entries<Arguments[string]>(args ?? {}).map(([name, spec]) => [name, readText(name, spec, options[name])]),
    ...Object.entries<OptionSpec>(specs ?? {}).map(([name, spec]) => [name, readOption(name, spec, options[name])]),
  ];
  requireGroups(specs ?? {}, options);
  // Each value has the type of its specification.
  return Object.fromEntries(values) as Values<A, O>;
}

function readOption(name: string, spec: OptionSpec, given: Options[string]): unknown {
  if (spec.value === undefined) return given === true;
  if (spec.isRepeated === true)
    return (typeof given === 'object' ? given : []).map((text) => readText(name, spec, text));
  if (spec.required !== undefined && (given === undefined || given === '')) {
    throw new UsageError(spec.required);
  }
  return readText(name, spec, given);
}

function readText(name: string, { read, choices }: Arguments[string], text: Options[string]): unknown {
  if (typeof text !== 'string') return undefined;
  if (read !== undefined) return read(text, name);
  if (choices === undefined || choices.includes(text)) return text;
  throw new UsageError(`--${name} takes one of ${choices.join(', ')}.`);
}

/** @throws UsageError if two options of a group are given, or none of a group that is required */
function requireGroups(specs: OptionSpecs, options: Options): void {
  for (const group of new Set(Object.values(specs).map((spec) => spec.group))) {
    const names = Object.keys(specs).filter((name) => specs[name]?.group === group);
    const [first, second] = names.filter((name) => options[name] !== undefined && options[name] !== false);
    if (group === undefined) continue;
    if (second !== undefined)
      throw new UsageError(`--${first} and --${second} exclude each other. Remove one of them.`);
    if (first === undefined && group.required !== undefined) throw new UsageError(group.required);
  }
}
