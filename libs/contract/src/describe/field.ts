import { type Check, type ErrorDetail, type JsonValue, orNull, type Schema } from '@iss/domain';

/** Marks a field that may be omitted only if another field says the same in another way. */
export const ONE_OF_TWO = 'x-one-of-two';

interface Facts {
  problemsOf: (value: JsonValue) => ErrorDetail[] | null;
  /** The schema for values that a caller sends. */
  sent: Schema;
  /** The schema for values in responses. It promises no more than necessary. */
  shown: Schema;
  /** Converts the stored value to the shown one; absent if they are equal. */
  show?: ((stored: unknown) => unknown) | undefined;
  /**
   * The member of the record that holds the value. If null, the value is the whole record. If absent, the member has
   * the field's own name in camelCase.
   */
  key?: string | null;
  isOptional: boolean;
  /** True if the stored value is JSON text that a response contains unchanged. */
  isText?: boolean;
  /** The fields, if this is a view. */
  parts?: Fields;
  /** The known names of the items, if this is a list of shaped items, or of the members, if this is a shaped object. */
  itemNames?: readonly string[];
  /** True if the OpenAPI document omits the field. */
  isHidden?: boolean;
}

/**
 * One field of the interface, declared once: its type, its rule with the message for violations, its schema, and its
 * conversion from the stored value. Bodies and queries check it, views show it. Each method returns a new field.
 *
 * The type `Shown` is its JSON type. The type `Stored` is that of the value in the record. The type `Key` is the
 * record's member: `''` for the field's own name in camelCase, `null` for the record itself. The type `IsOptional` says
 * whether it may be omitted.
 */
export class Field<Shown, Stored = Shown, Key extends string | null = '', IsOptional extends boolean = false> {
  /** For the compiler only; it has no value. */
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

  /** Adds an example for requests. A response has one example as a whole. */
  example(example: Shown): Field<Shown, Stored, Key, IsOptional> {
    return this.with({ sent: { ...this.facts.sent, example } });
  }

  /** Documents the value that applies if the field is not sent. */
  byDefault(value: Shown): Field<Shown, Stored, Key, IsOptional> {
    return this.with({ sent: { ...this.facts.sent, default: value } });
  }

  /** Replaces the schema in responses, if they promise less than a request must satisfy. */
  shownAs(shown: Schema): Field<Shown, Stored, Key, IsOptional> {
    return this.with({ shown });
  }

  /** Also allows null. */
  nullable(): Field<Shown | null, Stored | null, Key, IsOptional> {
    const { sent, shown, problemsOf } = this.facts;
    return this.with({
      sent: orNull(sent),
      shown: orNull(shown),
      problemsOf: (value) => (value === null ? null : problemsOf(value)),
    });
  }

  /**
   * Allows the field to be omitted; null in a body means the same. A response omits it if nothing or null is stored.
   */
  optional(): Field<Shown, Stored, Key, true> {
    return this.with({ isOptional: true });
  }

  /** Marks one of two ways to say the same. One of them is required; the code that reads both checks this. */
  orAnother(): Field<Shown, Stored, Key, true> {
    return this.noted({ [ONE_OF_TWO]: true }).optional();
  }

  /** Takes the value from the record's member of this name. */
  from<Name extends string>(key: Name): Field<Shown, Stored, Name, IsOptional> {
    return this.with({ key });
  }

  /** Takes the whole record as the value. */
  fromRecord(): Field<Shown, Stored, null, IsOptional> {
    return this.with({ key: null });
  }

  /** Says that the value is stored as JSON text, which `View.textOf` puts into the response unchanged. */
  asText(): Field<Shown, string, Key, IsOptional> {
    return this.with({ isText: true });
  }

  /** Converts the stored value with `show`. */
  madeOf<Other>(show: (stored: Other) => Shown): Field<Shown, Other, Key, IsOptional> {
    // `show` only ever receives the type that `StoredBy` demands of the record's member.
    return this.with({ show: show as (stored: unknown) => unknown });
  }
}

/** Creates a field from a check of the domain. */
export function field<T>({ schema, problemsOf }: Check<T>): Field<T> {
  return new Field({ problemsOf, sent: schema, shown: schema, isOptional: false });
}

/** Says which members the items of a list have, or an object has. Other members are read without their values. */
export function withMembers<T>(shaped: Field<T>, itemNames: readonly string[]): Field<T> {
  return new Field({ ...shaped.facts, itemNames });
}

/** Creates a field that occurs only in responses. */
export function shown<T>(schema: Schema): Field<T> {
  return new Field({ problemsOf: () => null, sent: schema, shown: schema, isOptional: false });
}

/** Creates a field that always shows this value. */
export function constant<const T extends string>(value: T): Field<T, unknown, null> {
  return shown<T>({ type: 'string', const: value })
    .madeOf(() => value)
    .fromRecord();
}

/** Creates a field that must not be sent, with a message that says why. */
export function refused(message: string): Field<never, never, '', true> {
  const problemsOf = (): ErrorDetail[] => [{ path: '', message, code: 'invalid_value' }];
  return new Field({ problemsOf, sent: {}, shown: {}, isOptional: true, isHidden: true });
}

/** Creates a list of values of another field. */
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

/** A secondary, deprecated name of another field of the same object: `a`, or `b.c` for a member of `b`. */
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

/** The JSON object that these fields show. */
export type ShownBy<F extends Fields> = { [Name in Exclude<keyof F, OptionalNames<F>>]: ShownAs<F, Name> } & {
  [Name in OptionalNames<F>]?: ShownAs<F, Name>;
};
/**
 * The JSON object that a caller sends. It always has the primary name of a field; an alias that was sent stays beside
 * it.
 */
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

/** The record from which the fields are made. */
export type StoredBy<F extends Fields> = {
  readonly [Name in Exclude<keyof F, AliasNames<F> | WholeNames<F> | OptionalNames<F>> as RecordKey<F, Name>]: StoredOf<
    F[Name]
  >;
} & {
  readonly [Name in Exclude<OptionalNames<F>, WholeNames<F>> as RecordKey<F, Name>]?: StoredOf<F[Name]>;
} & ([WholeNames<F>] extends [never] ? unknown : Intersected<StoredOf<F[WholeNames<F>]>>);

/** Converts `grant_id` to `grantId`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the schema of an alias: that of its field, without description and example. */
export function aliasSchema({ of }: Alias, { description: _, example: __, ...schema }: Schema): Schema {
  return { ...schema, deprecated: true, description: `Alias of ${of}.` };
}

/** Adds a note to a schema. A named schema is wrapped, so that the note stays beside the reference. */
function noted(schema: Schema, note: Schema): Schema {
  return 'title' in schema ? { allOf: [schema], ...note } : { ...schema, ...note };
}
