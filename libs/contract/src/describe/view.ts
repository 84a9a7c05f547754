import { parseStoredJson, type Schema } from '@iss/domain';
import { Alias, aliasSchema, camelCase, Field, type Fields, type ShownBy, type StoredBy } from './field';

interface Entry {
  name: string;
  schema: Schema;
  isOptional: boolean;
  /** Null: the record itself. */
  key: string | null;
  show: ((stored: unknown) => unknown) | undefined;
  isText: boolean;
}

/**
 * How a response shows a record, declared once: its type (`ViewOf`), its schema, and its conversion. A view is also a
 * field that other views can contain. It is then made of the record's member of that name, unless it calls `from`.
 */
export class View<F extends Fields> extends Field<ShownBy<F>, StoredBy<F>> {
  /** Returns the view of a record. */
  readonly of: (record: StoredBy<F>) => ShownBy<F>;
  /** Returns the view as JSON text. Stored JSON text is inserted unchanged, after the other members. */
  readonly textOf: (record: StoredBy<F>) => string;

  constructor(
    readonly fields: F,
    name?: string,
    description?: string,
  ) {
    const entries = Object.keys(fields).map((one) => entryOf(fields, one));
    const named = name === undefined ? {} : { title: name };
    const schema = { ...named, ...(description === undefined ? {} : { description }), ...objectSchema(entries) };
    const texts = entries.filter(({ isText }) => isText);
    const others = entries.filter(({ isText }) => !isText);
    super({
      problemsOf: () => null,
      sent: schema,
      shown: schema,
      isOptional: false,
      show: (stored) => membersOf(stored, entries),
      parts: fields,
    });
    // Each field makes its member from the type that `StoredBy` demands.
    this.of = (record) => membersOf(record, entries) as ShownBy<F>;
    this.textOf = (record) => {
      let text = JSON.stringify(membersOf(record, others)).slice(0, -1);
      for (const { name: member, key } of texts) text += `,"${member}":${String(storedIn(record, key))}`;
      return `${text}}`;
    };
  }
}

function storedIn(record: unknown, key: string | null): unknown {
  return key === null ? record : (record as Readonly<Record<string, unknown>>)[key];
}

/** A missing value is shown as null, or omitted if optional. */
function membersOf(record: unknown, entries: readonly Entry[]): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const { name, key, show, isOptional } of entries) {
    const stored = storedIn(record, key);
    if (stored === null || stored === undefined) {
      if (!isOptional) members[name] = null;
    } else {
      members[name] = show === undefined ? stored : show(stored);
    }
  }
  return members;
}

/** Creates a view with a schema name and, optionally, a description that applies wherever it is used. */
export function view<const F extends Fields>(name: string, fields: F, description?: string): View<F> {
  return new View(fields, name, description);
}

/** Creates a part of a view, without a schema name. */
export function part<const F extends Fields>(fields: F): View<F> {
  return new View(fields);
}

/** The JSON that a view shows. */
export type ViewOf<V> = V extends { types: { shown: infer Shown } } ? Shown : never;

/** The record from which a view is made. */
export type RecordOf<V> = V extends { of: (record: infer Stored) => unknown } ? Stored : never;

/** Returns the schema of an object. Every member that is not optional is required. */
export function objectSchema(entries: readonly { name: string; schema: Schema; isOptional: boolean }[]): Schema {
  const required = entries.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 ? { required } : {}),
  };
}

function entryOf(fields: Fields, name: string): Entry {
  const member = fields[name];
  if (member === undefined) throw new Error(`a view has no field ${name}`);
  if (member instanceof Alias) {
    const [head = '', inner] = member.of.split('.');
    const entry = inner === undefined ? entryOf(fields, head) : entryOf(partsOf(fields[head], head), inner);
    return { ...entry, name, schema: aliasSchema(member, entry.schema) };
  }
  const { shown, show, key, isOptional, isText = false } = member.facts;
  return {
    name,
    schema: shown,
    key: key === undefined ? camelCase(name) : key,
    show: isText ? (stored) => parseStoredJson(String(stored)) : show,
    isOptional,
    isText,
  };
}

/** Returns the fields of a nested view that is made of the same record. */
function partsOf(member: Fields[string] | undefined, name: string): Fields {
  if (member instanceof Field && member.facts.parts !== undefined) return member.facts.parts;
  throw new Error(`${name} is not a part of this view`);
}
