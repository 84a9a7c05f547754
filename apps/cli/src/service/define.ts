import { type Command, type CommandContext, Failure, type Options } from '../command';
import { type Arguments, commandOf, type Definition, type None, type OptionSpecs, type Values } from '../define';
import { JSON_OPTION, LIST_OPTIONS, type Row, showList, showOne, type Style, styleOf } from '../output';
import { visible, visibleWhole } from '../visible';
import { asCaller, type Caller, CALLER_OPTIONS, PROFILE_OPTION } from './caller';

/** The data of a command that calls the service. */
interface ServiceDefinition<A extends Arguments, O extends OptionSpecs> extends Definition<A, O> {
  /** The command concerns the user, not one of its tenants. */
  readonly isOfUser?: boolean;
}

/** Makes a command that sends a request and prints the answer, as text or with `--json`. */
export function defineCall<T, const A extends Arguments = None, const O extends OptionSpecs = None>(
  definition: ServiceDefinition<A, O> & {
    /** `--json` prints the answer. Default: true. */
    readonly hasAnswer?: boolean;
    /** Checks what the values say together, before the command calls the service. @throws UsageError */
    readonly check?: (values: Values<A, O>) => void;
    readonly call: (caller: Caller, values: Values<A, O>) => Promise<T>;
    /** Returns the JSON of the answer, if it is only a part. */
    readonly json?: (answer: T) => unknown;
    /** Long lines are not cut, because other programs read them. */
    readonly isWhole?: boolean;
    /** Describes the answer in one line or several. Foreign text is escaped. */
    readonly text: (answer: T, values: Values<A, O>) => string | readonly string[];
  },
): Command {
  const { check, call, json = (answer: T) => answer, text, hasAnswer = true, isWhole = false } = definition;
  const shown = isWhole ? visibleWhole : visible;
  const shared = { ...callerOptions(definition), ...(hasAnswer ? JSON_OPTION : {}) };
  return commandOf(definition, shared, async (values, context, options) => {
    check?.(values);
    await asCaller(options, context, (caller) =>
      ofThisApi(async () => {
        const answer = await call(caller, values);
        showOne(options, context, json(answer), () =>
          [text(answer, values)]
            .flat()
            .map((line) => shown(line))
            .join('\n'),
        );
      }),
    );
  });
}

/** Prints a list of the caller. */
export type PrintList = (caller: Caller, options: Options, context: CommandContext) => Promise<void>;

/** Returns the printer of a list: a table, or with `--json` one line per item. */
export function listing<T>({
  items,
  columns,
  paint = {},
  none,
}: {
  readonly items: (caller: Caller) => AsyncIterable<T>;
  readonly columns: (item: T) => Row;
  /** The colours of columns. */
  readonly paint?: Readonly<Record<string, keyof Style>>;
  /** Printed for an empty list. */
  readonly none: string;
}): PrintList {
  return (caller, options, context) => {
    const style = styleOf(context.screen);
    const painted = Object.fromEntries(Object.entries(paint).map(([column, colour]) => [column, style[colour]]));
    return showList(options, context, items(caller), { asRow: columns, none, paint: painted });
  };
}

/** Makes a command that prints a list. */
export function defineList<const A extends Arguments = None, const O extends OptionSpecs = None>(
  definition: ServiceDefinition<A, O> & {
    /** Chooses the list before the command calls the service. @throws UsageError */
    readonly list: (values: Values<A, O>) => PrintList;
  },
): Command {
  const shared = { ...LIST_OPTIONS, ...callerOptions(definition) };
  return commandOf(definition, shared, async (values, context, options) => {
    const print = definition.list(values);
    await asCaller(options, context, (caller) => ofThisApi(() => print(caller, options, context)));
  });
}

/** Runs work on answers whose members the client did not check. @throws Failure if one is missing or of another type */
async function ofThisApi(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Failure('The answer is not one of this API. Is the base URL right?');
  }
}

function callerOptions({ isOfUser = false }: { readonly isOfUser?: boolean }): OptionSpecs {
  return isOfUser ? PROFILE_OPTION : CALLER_OPTIONS;
}
