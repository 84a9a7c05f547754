import type { ErrorDetail } from '../errors';
import { MAX_PROBLEMS } from '../limits';
import { formatPointer } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';

/** A JSON Schema (2020-12). */
export type Schema = Readonly<Record<string, unknown>>;

/** A validation rule with its JSON Schema and its TypeScript type. */
export interface Check<T = unknown> {
  /**
   * Returns the problems of a value, with paths relative to it, or null if there are none. The caller prepends its own
   * key to the paths, so that a valid value costs no allocation.
   */
  readonly problemsOf: (value: JsonValue) => ErrorDetail[] | null;
  readonly schema: Schema;
  /** Set if an object may lack this member. */
  readonly isOptional?: true;
  /** Never set. Tells the compiler the type of a value that passes the check. */
  readonly type?: T;
}

/** The type of a value that passes a check. */
export type TypeOf<C> = C extends Check<infer T> ? T : never;

type Members = Readonly<Record<string, Check>>;
type OptionalNames<M extends Members> = {
  [Name in keyof M]: M[Name] extends { readonly isOptional: true } ? Name : never;
}[keyof M];
/** An object with these members, and possibly others. */
type ObjectOf<M extends Members> = { [Name in Exclude<keyof M, OptionalNames<M>>]: TypeOf<M[Name]> } & {
  [Name in OptionalNames<M>]?: TypeOf<M[Name]>;
};

type Problems = ErrorDetail[] | null;

/** Makes a check of one rule. */
export function rule<T>(schema: Schema, code: string, message: string, holds: (value: JsonValue) => boolean): Check<T> {
  return { schema, problemsOf: (value) => (holds(value) ? null : [{ path: '', message, code }]) };
}

/** Applies the second check only if the first finds no problem. The schema of the second must describe both. */
export function checkThen<T>(first: Check, second: Check<T>): Check<T> {
  return { ...second, problemsOf: (value) => first.problemsOf(value) ?? second.problemsOf(value) };
}

/** Checks that a value is a string for which `holds` returns true. `schema` is added to `type: string`. */
export function textThat(
  schema: Schema,
  code: string,
  message: string,
  holds: (text: string) => boolean,
): Check<string> {
  return checkThen(
    anyText,
    rule({ ...anyText.schema, ...schema }, code, message, (value) => typeof value === 'string' && holds(value)),
  );
}

/** Checks that a value is one of these strings. */
export function enumOf<const T extends string>(options: readonly T[]): Check<T> {
  const known: readonly unknown[] = options;
  const schema = { type: 'string', ...(options.length === 1 ? { const: options[0] } : { enum: options }) };
  const message = `must be ${options.map((option) => `"${option}"`).join(' or ')}`;
  return checkThen(
    anyText,
    rule(schema, 'invalid_value', message, (value) => known.includes(value)),
  );
}

/**
 * Checks the members of an object. Other members are allowed. Only own properties count, so that nothing is read from
 * the prototype.
 */
export function objectOf<M extends Members>(members: M): Check<ObjectOf<M>> {
  const entries = Object.entries(members);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, check]) => [name, check.schema])),
    required: entries.filter(([, { isOptional }]) => isOptional !== true).map(([name]) => name),
    additionalProperties: true,
  };
  const problemsOf = (value: JsonValue): Problems => {
    if (!isJsonObject(value)) return anyObject.problemsOf(value);
    let problems: Problems = null;
    for (const [name, check] of entries) {
      const member = Object.hasOwn(value, name) ? value[name] : undefined;
      if (member !== undefined) problems = withBelow(problems, name, check.problemsOf(member));
      else if (check.isOptional !== true) problems = withBelow(problems, name, MISSING);
    }
    return problems;
  };
  return { schema, problemsOf };
}

/** Checks an array and each of its items. */
export function arrayOf<T>(item: Check<T>): Check<T[]> {
  const problemsOf = (value: JsonValue): Problems => {
    if (!Array.isArray(value)) return anyArray.problemsOf(value);
    let problems: Problems = null;
    let index = 0;
    for (const one of value) {
      problems = withBelow(problems, String(index), item.problemsOf(one));
      if (problems !== null && problems.length >= MAX_PROBLEMS) break;
      index++;
    }
    return problems;
  };
  return { schema: { type: 'array', items: item.schema }, problemsOf };
}

/** Checks an object that is used as a map: each key and each value. */
export function mapOf<T>(key: Check<string>, member: Check<T>): Check<Record<string, T>> {
  const problemsOf = (value: JsonValue): Problems => {
    if (!isJsonObject(value)) return anyObject.problemsOf(value);
    let problems: Problems = null;
    for (const name in value) {
      if (!Object.hasOwn(value, name)) continue;
      problems = withBelow(problems, name, key.problemsOf(name));
      problems = withBelow(problems, name, member.problemsOf(value[name] ?? null));
      if (problems !== null && problems.length >= MAX_PROBLEMS) break;
    }
    return problems;
  };
  return { schema: { type: 'object', additionalProperties: member.schema }, problemsOf };
}

/** Makes a member optional. Null in its place means the same as its absence (contract, "null"). */
export function optional<T>(check: Check<T>): Check<T | null> & { readonly isOptional: true } {
  return {
    schema: orNull(check.schema),
    problemsOf: (value) => (value === null ? null : check.problemsOf(value)),
    isOptional: true,
  };
}

/** Returns the schema extended by null. */
export function orNull(schema: Schema): Schema {
  const { type, enum: options } = schema;
  if (Array.isArray(type) && type.includes('null')) return schema;
  if (typeof type !== 'string' || 'title' in schema || 'const' in schema) {
    const takesAll = type === undefined && !['allOf', 'anyOf', 'oneOf'].some((key) => key in schema);
    return takesAll ? schema : { anyOf: [schema, { type: 'null' }] };
  }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(options) ? { enum: [...options, null] } : {}) };
}

/** Names a check's schema in the OpenAPI document. */
export function named<T>(title: string, check: Check<T>): Check<T> {
  return { ...check, schema: { title, ...check.schema } };
}

/** Adds a description to a check's schema. */
export function described<T>(description: string, check: Check<T>): Check<T> {
  return { ...check, schema: { ...check.schema, description } };
}

export const anyValue: Check<JsonValue> = { schema: {}, problemsOf: () => null };
export const anyText: Check<string> = rule(
  { type: 'string' },
  'invalid_type',
  'must be a string',
  (value) => typeof value === 'string',
);
export const anyObject: Check<JsonObject> = rule(
  { type: 'object', additionalProperties: true },
  'invalid_type',
  'must be an object',
  isJsonObject,
);
export const anyArray: Check<JsonValue[]> = rule({ type: 'array' }, 'invalid_type', 'must be an array', Array.isArray);
/** UTF-16 code units of a key in a path. Longer keys are cut. */
const MAX_KEY_SHOWN = 256;
const MISSING: readonly ErrorDetail[] = [{ path: '', message: 'is required', code: 'required' }];

function withBelow(problems: Problems, key: string, below: readonly ErrorDetail[] | null): Problems {
  if (below === null) return problems;
  // Cut the key, so that a problem below a key of a megabyte does not cost a megabyte.
  const here = formatPointer([key.length > MAX_KEY_SHOWN ? `${key.slice(0, MAX_KEY_SHOWN)}…` : key]);
  const placed = below.map((problem) => ({ ...problem, path: here + problem.path }));
  return problems === null ? placed : problems.concat(placed);
}
