import { type Check, type ErrorDetail, type JsonValue, orNull, type Schema } from '@iss/domain';

/** Marks what may be left out only where another field says the same in another way. */
export const ONE_OF_TWO = 'x-one-of-two';

interface Facts {
  problemsOf: (value: JsonValue) => ErrorDetail[] | null;
  /** Of what a caller sends. */
  sent: Schema;
  /** Of what an answer shows, which promises no more than it has to. */
  shown: Schema;
  /** What is shown of what is stored; absent where that is the same. */
  show?: ((stored: unknown) => unknown) | undefined;
  /** The member of the record that it is made of: null for the record itself; absent for its own name in camelCase. */
  key?: string | null;
  isOptional: boolean;
  /** Whether JSON text is stored, which an answer is to hold as it stands. */
  isText?: boolean;
  /** Of a view: its fields. */
  parts?: Fields;
  /** Of a list whose items have a fixed shape: the names that this knows. */
  itemNames?: readonly string[];
  /** Whether the document says nothing of it. */
  isHidden?: boolean;
}

/**
 * One field of the interface, declared once: its type, its rule and the sentence that its violation is told by, its schema,
 * and how it is made of what is stored. Bodies and queries check it, views show it. Each method gives another field.
 *
 * `Shown` is its JSON, `Stored` what a record holds, `Key` where (`''`: under its own name in camelCase; `null`: the record
 * itself), `IsOptional` whether it may be left out.
 */
export class Field<Shown, Stored = Shown, Key extends string | null = '', IsOptional extends boolean = false> {
  /** Never there: for the compiler. */
  declare readonly types: { shown: Shown; stored: (stored: Stored) => void; key: Key; isOptional: IsOptional };

  constructor(readonly facts: Facts) {}

  private with<S, T, K extends string | null, O extends boolean>(facts: Partial<Facts>): Field<S, T, K, O> {
    return new Field({ ...this.facts, ...facts });
  }

  private noted(note: Schema): Field<Shown, Stored, Key, IsOptional> {
    return this.with({ sent: noted(this.facts.sent, note), shown: noted(this.facts.shown, note) });
  }

  described(description: string): Field<Shown, Stored, Key, IsOptional> {
    return this.noted({ description });
  }

  /** Marks the secondary one of two forms. */
  deprecated(): Field<Shown, Stored, Key, IsOptional> {
    return this.noted({ deprecated: true });
  }

  /** Shown where a caller sends it. An answer has an example as a whole. */
  example(example: Shown): Field<Shown, Stored, Key, IsOptional> {
    return this.with({ sent: { ...this.facts.sent, example } });
  }

  /** What it is when it is not sent. */
  byDefault(value: Shown): Field<Shown, Stored, Key, IsOptional> {
    return this.with({ sent: { ...this.facts.sent, default: value } });
  }

  /** What is said of it in an answer, where that is less than what is asked of a caller. */
  shownAs(shown: Schema): Field<Shown, Stored, Key, IsOptional> {
    return this.with({ shown });
  }

  /** Null is a value of it. */
  nullable(): Field<Shown | null, Stored | null, Key, IsOptional> {
    const { sent, shown, problemsOf } = this.facts;
    return this.with({
      sent: orNull(sent),
      shown: orNull(shown),
      problemsOf: (value) => (value === null ? null : problemsOf(value)),
    });
  }

  /** It may be left out, which null in a body says too. An answer leaves it out where nothing, or null, is stored. */
  optional(): Field<Shown, Stored, Key, true> {
    return this.with({ isOptional: true });
  }

  /** One of two ways to say the same: one of them has to be there, which whoever reads both sees to. */
  orAnother(): Field<Shown, Stored, Key, true> {
    return this.noted({ [ONE_OF_TWO]: true }).optional();
  }

  /** Made of the record's member of this name. */
  from<Name extends string>(key: Name): Field<Shown, Stored, Name, IsOptional> {
    return this.with({ key });
  }

  /** Made of the record itself. */
  fromRecord(): Field<Shown, Stored, null, IsOptional> {
    return this.with({ key: null });
  }

  /** Stored as JSON text, which `View.textOf` puts into the answer as it stands. */
  asText(): Field<Shown, string, Key, IsOptional> {
    return this.with({ isText: true });
  }

  /** Made of something else than what is shown. */
  madeOf<Other>(show: (stored: Other) => Shown): Field<Shown, Other, Key, IsOptional> {
    // Only what the record's member holds is ever given to it: see `StoredBy`.
    return this.with({ show: show as (stored: unknown) => unknown });
  }
}

/** A field by a check of the domain. */
export function field<T>({ schema, problemsOf }: Check<T>): Field<T> {
  return new Field({ problemsOf, sent: schema, shown: schema, isOptional: false });
}

/** A list of what has a fixed shape, of which these names are known: whoever takes it looks at each item. */
export function listOfShaped(list: Field<JsonValue[]>, itemNames: readonly string[]): Field<JsonValue[]> {
  return new Field({ ...list.facts, itemNames });
}

/** A field that is only ever shown. */
export function shown<T>(schema: Schema): Field<T> {
  return new Field({ problemsOf: () => null, sent: schema, shown: schema, isOptional: false });
}

/** A field that always shows this. */
export function constant<const T extends string>(value: T): Field<T, unknown, null> {
  return shown<T>({ type: 'string', const: value })
    .madeOf(() => value)
    .fromRecord();
}

/** A field that is there to say why it may not be sent. */
export function refused(message: string): Field<never, never, '', true> {
  const problemsOf = (): ErrorDetail[] => [{ path: '', message, code: 'invalid_value' }];
  return new Field({ problemsOf, sent: {}, shown: {}, isOptional: true, isHidden: true });
}

/** Any number of what another field is one of. */
export function listOf<Shown, Stored>({ facts }: Field<Shown, Stored>): Field<readonly Shown[], readonly Stored[]> {
  const { show } = facts;
  const list = new Field<readonly Shown[], readonly Stored[]>({
    problemsOf: () => null,
    sent: { type: 'array', items: facts.sent },
    shown: { type: 'array', items: facts.shown },
    isOptional: false,
  });
  return show === undefined ? list : list.madeOf((stored) => stored.map((one) => show(one) as Shown));
}

/** A secondary, deprecated name of another field of the same object: `a`, or `b.c` for what a member of it shows. */
export class Alias<Of extends string = string> {
  constructor(readonly of: Of) {}
}

export function alias<const Of extends string>(of: Of): Alias<Of> {
  return new Alias(of);
}

type AnyField = Field<unknown, never, string | null, boolean>;
export type Fields = Readonly<Record<string, AnyField | Alias>>;

type ShownOf<F> = F extends { types: { shown: infer Shown } } ? Shown : never;
type KeyOf<F> = F extends { types: { key: infer Key } } ? Key : never;
type StoredOf<F> = F extends { types: { stored: (stored: infer Stored) => void; isOptional: infer IsOptional } }
  ? IsOptional extends true
    ? Stored | null | undefined
    : Stored
  : never;

type ShownAt<F extends Fields, Path extends string> = Path extends `${infer Head}.${infer Rest}`
  ? ShownOf<F[Head]>[Rest & keyof ShownOf<F[Head]>]
  : ShownOf<F[Path]>;
type OptionalNames<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { types: { isOptional: true } } ? Name : never;
}[keyof F];
type AliasNames<F extends Fields> = { [Name in keyof F]: F[Name] extends Alias ? Name : never }[keyof F];
type ShownAs<F extends Fields, Name extends keyof F> =
  F[Name] extends Alias<infer Of> ? ShownAt<F, Of> : ShownOf<F[Name]>;

/** The JSON object that has these fields. */
export type ShownBy<F extends Fields> = { [Name in Exclude<keyof F, OptionalNames<F>>]: ShownAs<F, Name> } & {
  [Name in OptionalNames<F>]?: ShownAs<F, Name>;
};
/** The same as it is sent: of the names of one field, the primary one. An alias that was used stays beside it. */
export type SentBy<F extends Fields> = {
  [Name in Exclude<keyof F, OptionalNames<F> | AliasNames<F>>]: ShownAs<F, Name>;
} & { [Name in OptionalNames<F> | AliasNames<F>]?: ShownAs<F, Name> };

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;
type RecordKey<F extends Fields, Name extends keyof F> =
  KeyOf<F[Name]> extends '' ? CamelCase<Name> & string : KeyOf<F[Name]> & string;
type WholeNames<F extends Fields> = { [Name in keyof F]: KeyOf<F[Name]> extends null ? Name : never }[keyof F];
type Intersected<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The record that the fields can be made of. */
export type StoredBy<F extends Fields> = {
  readonly [Name in Exclude<keyof F, AliasNames<F> | WholeNames<F>> as RecordKey<F, Name>]: StoredOf<F[Name]>;
} & ([WholeNames<F>] extends [never] ? unknown : Intersected<StoredOf<F[WholeNames<F>]>>);

/** `grant_id` as `grantId`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The schema of an alias: that of the field which it names, whose words and example stand there. */
export function aliasSchema({ of }: Alias, { description: _, example: __, ...schema }: Schema): Schema {
  return { ...schema, deprecated: true, description: `Alias of ${of}.` };
}

/** A named schema is referred to, so that what is said of one use of it stands beside the reference. */
function noted(schema: Schema, note: Schema): Schema {
  return 'title' in schema ? { allOf: [schema], ...note } : { ...schema, ...note };
}
