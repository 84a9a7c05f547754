import { arrayParameter, type ElementType, isElementType } from './array-parameter';
import { statementText } from './sql-files';

/** A statement with named parameters, which PostgreSQL parses and plans once per connection. */
export interface Statement<Parameters extends object, Row extends object> {
  /** Unique in the process. */
  readonly name: string;
  /** The text that PostgreSQL receives, with `$1`, `$2` … for {@link parameters}. */
  readonly text: string;
  readonly parameters: readonly Parameter[];
  /** Never set. It only carries the types. */
  readonly types?: (parameters: Parameters) => Row;
}

/** The meaning of one `$n` in a statement. */
export interface Parameter {
  readonly name: string;
  /** If set, the value is an array: this member of each object in the list called `name`. */
  readonly member: string | null;
  /** If set, the value is an array that is sent in binary. */
  readonly element: ElementType | null;
}

/** The type of a statement without parameters. */
export type NoParameters = Record<string, never>;

type AnyStatement = Pick<Statement<object, object>, 'name' | 'text' | 'parameters'>;

/** All declared statements by name. A second statement of the same name would run the text of the first. */
const declared = new Map<string, AnyStatement>();

export function declaredStatements(): ReadonlyMap<string, AnyStatement> {
  return declared;
}

/**
 * Declares a named prepared statement with the types of its parameters and rows (docs/sql.md). In its text, `:tenantId` is the
 * parameter of that name, and `:inputs.tenantId::text[]` is an array of the member `tenantId` of each object in `inputs`. Throws
 * if another text has the name, or if a parameter has a number instead of a name.
 */
export function statement<Parameters extends object = NoParameters, Row extends object = object>(
  name: string,
  source = statementText(name),
): Statement<Parameters, Row> {
  const { text, parameters } = compile(name, source);
  if ((declared.get(name)?.text ?? text) !== text) throw new Error(`Two statements are named ${name}`);
  declared.set(name, { name, text, parameters });
  return { name, text, parameters };
}

/**
 * Matches a literal, a quoted name, or a parameter with its cast. A colon after a name, a bracket or another colon belongs to a
 * slice or a cast.
 */
const TOKEN = /'(?:[^']|'')*'|"[^"]*"|(?<![\w\]:]):([a-z]\w*)(?:\.(\w+))?(?:::(\w+)(\[\])?)?/gi;

function compile(name: string, source: string): Pick<AnyStatement, 'text' | 'parameters'> {
  if (/\$\d/.test(source)) throw new Error(`${name} has a parameter by number. Give it a name: :tenantId`);
  const parameters = new Map<string, Parameter>();
  const text = source.replace(
    TOKEN,
    (token, parameter?: string, member?: string, type = '', brackets: string | undefined = undefined) => {
      if (parameter === undefined) return token;
      const key = member === undefined ? parameter : `${parameter}.${member}`;
      const element = brackets !== undefined && isElementType(type) ? type : (parameters.get(key)?.element ?? null);
      if (member !== undefined && element === null) throw new Error(`${name} does not say what array :${key} is`);
      parameters.set(key, { name: parameter, member: member ?? null, element });
      const cast = type === '' ? '' : `::${type}${brackets ?? ''}`;
      return `$${[...parameters.keys()].indexOf(key) + 1}${cast}`;
    },
  );
  return { text, parameters: [...parameters.values()] };
}

/** Returns the argument for a parameter: a value or a list of values. Throws if it is missing. */
export function argumentOf(parameter: Parameter, given: object, statement: AnyStatement): unknown {
  const value = memberOf(given, parameter.name, statement);
  const { member } = parameter;
  if (member === null) return value;
  return listOf(value, parameter, statement).map((item: object) => memberOf(item, member, statement));
}

/** Returns the values of `$1`, `$2` …. Throws if one is missing, and ignores members that the statement does not name. */
export function valuesOf<Parameters extends object>(
  statement: Statement<Parameters, object>,
  given: NoInfer<Parameters>,
): unknown[] {
  return statement.parameters.map((parameter) => {
    const value = argumentOf(parameter, given, statement);
    if (parameter.element === null || value === null || value === undefined) return value;
    return arrayParameter(parameter.element, listOf(value, parameter, statement));
  });
}

function listOf(value: unknown, { name }: Parameter, statement: AnyStatement) {
  if (!Array.isArray(value)) throw new TypeError(`:${name} of ${statement.name} is no list`);
  return value;
}

function memberOf(object: object, name: string, statement: AnyStatement): unknown {
  // The cast is safe, because any object can be asked for any member. A missing one is reported below.
  const value = (object as Readonly<Record<string, unknown>>)[name];
  if (value === undefined && !(name in object)) throw new TypeError(`${statement.name} is not given :${name}`);
  return value;
}
