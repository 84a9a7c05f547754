import {
  DomainError,
  type ErrorDetail,
  formatPointer,
  isJsonObject,
  type JsonObject,
  MAX_PROBLEMS,
  orNull,
  type Schema,
} from '@iss/domain';
import { Alias, aliasSchema, type Fields, type SentBy } from '../describe/field';
import { objectSchema } from '../describe/view';

/** The known names of shaped elements, by the name of the array member that holds them. */
export type ItemFields = Readonly<Record<string, readonly string[]>>;

/** An example of a body, with a one-line summary. */
export interface Example<Body> {
  summary?: string;
  value: Body;
}

interface Entry {
  name: string;
  problemsOf: (value: JsonObject[string]) => ErrorDetail[] | null;
  isOptional: boolean;
  schema: Schema;
  isHidden: boolean;
  aliases: readonly string[];
}

/**
 * A rule between fields: its problems in a value (whose fields may have problems of their own), and the same as schema.
 */
export interface Between {
  schema: Schema;
  /** Paths are relative to the value. */
  problemsOf: (value: JsonObject) => readonly ErrorDetail[];
}

/** The shape of a body or a query, declared once: its type (`SentOf`), rules, schema and examples. */
export class Shape<F extends Fields> {
  /** For the compiler only; it has no value. */
  declare readonly sent: SentBy<F>;
  readonly schema: Schema;
  private readonly entries: readonly Entry[];
  private readonly knownNames: ReadonlySet<string>;
  /** All known names, including aliases. */
  readonly names: readonly string[];
  /** The known names of the items of its lists, if they have a shape. */
  readonly items: ItemFields;
  /** The names that a caller may send, as text. */
  private readonly known: string;

  constructor(
    readonly fields: F,
    name?: string,
    readonly examples: Readonly<Record<string, Example<SentBy<F>>>> = {},
    private readonly between?: Between,
  ) {
    const all = Object.keys(fields).map((one) => entryOf(fields, one));
    this.entries = all.filter((entry) => !(fields[entry.name] instanceof Alias));
    this.names = Object.keys(fields);
    this.items = Object.fromEntries(
      Object.entries(fields).flatMap(([one, field]) =>
        field instanceof Alias || field.facts.itemNames === undefined ? [] : [[one, field.facts.itemNames]],
      ),
    );
    this.knownNames = new Set(this.names);
    const asShown = all
      .filter(({ isHidden }) => !isHidden)
      .map((entry) => ({ ...entry, isOptional: mayBeLeftOut(entry) }));
    const shownNames = asShown.map((entry) => entry.name).join(', ');
    this.known = shownNames;
    this.schema = {
      ...(name === undefined ? objectSchema(asShown) : bodySchema(name, asShown, this.entries)),
      ...between?.schema,
    };
  }

  /**
   * Returns the value itself if it has this shape. Nothing is coerced, and unknown fields are refused. Removes an
   * optional field that was sent as null, unless null is one of its values. Copies the value of an alias to the primary
   * name. Throws `validation_error` with every problem, each with its JSON Pointer below `at` (`[]` for a body). Stops
   * after 100 unknown fields.
   */
  require(value: unknown, at: readonly string[] = []): SentBy<F> {
    if (!isJsonObject(value)) {
      throw new DomainError('validation_error', 'The body must be a JSON object.', [
        { path: formatPointer(at), message: 'must be an object', code: 'invalid_type' },
      ]);
    }
    const details: ErrorDetail[] = [];
    for (const key in value) {
      if (this.knownNames.has(key) || !Object.hasOwn(value, key)) continue;
      const message = at[0] === 'query' ? unknownParameter(key, this.known) : unknownField(key, this.known);
      details.push({ path: formatPointer([...at, key]), message, code: 'unknown_field' });
      if (details.length === MAX_PROBLEMS) break;
    }
    if (details.length < MAX_PROBLEMS) {
      for (const entry of this.entries) readInto(value, entry, at, details);
      for (const { path, ...problem } of this.between?.problemsOf(value) ?? []) {
        details.push({ path: formatPointer(at) + path, ...problem });
      }
    }
    if (details.length > 0) {
      const [first, ...others] = details;
      const isOneUnknown = first?.code === 'unknown_field' && others.length === 0;
      const message = isOneUnknown ? first.message : 'The request is not valid. See details for each place.';
      throw new DomainError('validation_error', message, details);
    }
    for (const entry of this.entries) {
      dropNull(value, entry.name, entry);
      for (const alias of entry.aliases) {
        dropNull(value, alias, entry);
        unite(value, entry.name, alias);
      }
    }
    // The rules of all fields were checked, and there are no other fields.
    return value as SentBy<F>;
  }
}

/** Creates the shape of a body that has this name in the document. */
export function body<const F extends Fields>(
  name: string,
  fields: F,
  examples: Readonly<Record<string, Example<SentBy<F>>>>,
  between?: Between,
): Shape<F> {
  return new Shape(fields, name, examples, between);
}

export function query<const F extends Fields>(fields: F): Shape<F> {
  return new Shape(fields);
}

/** The type of a value that has a shape. */
export type SentOf<S> = S extends { sent: infer Sent } ? Sent : never;

/** Throws `validation_error` if a body has no field. For bodies whose fields are all optional, but not all at once. */
export function requireAField(sent: object): void {
  if (Object.keys(sent).length > 0) return;
  throw new DomainError('validation_error', 'The body contains no field to change. Send at least one.', [
    { path: '', message: 'must have at least one field', code: 'required' },
  ]);
}

function unknownParameter(name: string, known: string): string {
  return `Unknown query parameter \`${name}\`. This route takes ${known === '' ? 'none' : known}.`;
}

function unknownField(name: string, known: string): string {
  return `Unknown field \`${name}\`. ${known === '' ? 'No field is allowed here' : `Allowed are ${known}`}.`;
}

function entryOf(fields: Fields, name: string): Entry {
  const one = fields[name];
  if (one === undefined) throw new Error(`a shape has no field ${name}`);
  if (one instanceof Alias) {
    const of = entryOf(fields, one.of);
    return { ...of, name, schema: aliasSchema(one, of.schema), isOptional: true, aliases: [] };
  }
  const { problemsOf, sent, isOptional, isHidden = false } = one.facts;
  const aliases = Object.keys(fields).filter((other) => {
    const it = fields[other];
    return it instanceof Alias && it.of === name;
  });
  return { name, problemsOf, isOptional, schema: sent, isHidden, aliases };
}

/**
 * Returns the schema of a body. It allows no other members. For optional members, null means the same as absent. A
 * required field with aliases needs one of its names.
 */
function bodySchema(title: string, members: readonly Entry[], entries: readonly Entry[]): Schema {
  const nullable = members.map((one) => (one.isOptional ? { ...one, schema: orNull(one.schema) } : one));
  const choices = entries
    .filter(({ isOptional, aliases }) => !isOptional && aliases.length > 0)
    .map(({ name, aliases, schema }) => ({
      anyOf: [name, ...aliases].map((one) => ({
        properties: { [one]: { ...bareOf(schema), description: `${name}, under one of its names.` } },
        required: [one],
      })),
    }));
  const [choice = {}, ...others] = choices;
  return {
    title,
    additionalProperties: false,
    ...objectSchema(nullable),
    ...choice,
    ...(others.length > 0 ? { allOf: others } : {}),
  };
}

/**
 * Returns a schema that only requires a value that is not null, in terms that client generators understand: they expect
 * arrays to have items.
 */
function bareOf({ type }: Schema): Schema {
  return type === 'array' ? { type, items: {} } : { type };
}

/** Returns whether a member may be omitted. With aliases, either name suffices. */
function mayBeLeftOut({ isOptional, aliases }: Entry): boolean {
  return isOptional || aliases.length > 0;
}

/** Returns whether null means that the field is omitted. */
function isNullAbsence(entry: Entry): boolean {
  return mayBeLeftOut(entry) && !entry.isHidden && entry.problemsOf(null) !== null;
}

function dropNull(value: JsonObject, name: string, entry: Entry): void {
  if (value[name] === null && isNullAbsence(entry)) delete value[name];
}

function readInto(value: JsonObject, entry: Entry, at: readonly string[], details: ErrorDetail[]): void {
  const { name, aliases, isOptional } = entry;
  let isGiven = check(value, name, entry, at, details);
  for (const alias of aliases) isGiven = check(value, alias, entry, at, details) || isGiven;
  if (isGiven || isOptional) return;
  details.push({ path: formatPointer([...at, name]), message: `${name} is required`, code: 'required' });
}

/** Returns whether the field is given under this name. Adds its problems to the details. */
function check(value: JsonObject, name: string, entry: Entry, at: readonly string[], details: ErrorDetail[]): boolean {
  const member = Object.hasOwn(value, name) ? value[name] : undefined;
  if (member === undefined || (member === null && isNullAbsence(entry))) return false;
  const problems = entry.problemsOf(member);
  if (problems === null) return true;
  for (const { path, message, code } of problems) {
    details.push({
      path: formatPointer([...at, name]) + path,
      message: path === '' ? `${name} ${message}` : message,
      ...(code === undefined ? {} : { code }),
    });
  }
  return true;
}

/**
 * Copies the value of an alias to the primary name. Throws `validation_error` if the two differ; null counts as absent.
 */
function unite(value: JsonObject, name: string, alias: string): void {
  const other = value[alias];
  if (other === undefined) return;
  const primary = (value[name] ??= other);
  if (other === null || JSON.stringify(primary) === JSON.stringify(other)) return;
  throw new DomainError(
    'validation_error',
    `${name} and ${alias} are names of the same field, but their values differ. Send only one.`,
    [{ path: `/${alias}`, message: `differs from ${name}`, code: 'mismatch' }],
  );
}
