/** The used parts of the API document. */
export interface Document {
  openapi: string;
  info: object;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

type Schema = Record<string, unknown> & { properties?: Record<string, Schema>; required?: string[] };
type Content = Record<string, { schema: Schema }>;

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}

/** The members of a schema that others extend by reference. */
const MIN_BASE = 4;

/** The keywords of schemas that can be split. */
const PLAIN_KEYWORDS = ['type', 'title', 'description', 'deprecated', 'example', 'examples', 'properties', 'required'];

const JSON_TYPE = 'application/json';

/** Members that many schemas have. Each group gets a schema of its own. */
const GROUPS = {
  PageEnd: ['next_cursor', 'has_more', 'page'],
  PageQuery: ['limit', 'cursor'],
  EventHead: ['id', 'created_at', 'tenant_id'],
} satisfies Record<string, readonly string[]>;

/** Lists of values that many schemas have, by their last value. Each gets a schema of its own. */
const VALUES: Readonly<Record<string, string>> = {
  'limit.changed': 'AuditAction',
  'webhook.test': 'DeliveredEventType',
  name: 'DisclosureVia',
  unavailable: 'ErrorCode',
  'grant.expired': 'EventType',
  tenant_owner: 'Role',
  issue_view: 'Scope',
};

/**
 * Returns the schemas for the client's types: those of the document, the parameters in paths, and each operation whose answer is JSON, with its
 * query, body and answer. Members and queries that repeat get a schema of their own.
 */
export function typeSchemas({ paths, components }: Document): Record<string, Schema> {
  const parameters: Record<string, Schema> = {};
  const methods: Record<string, Record<string, Schema>> = {};
  const queries = new QuerySchemas(paths);
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      for (const { name, in: place, schema, description } of operation.parameters ?? []) {
        if (place === 'path') parameters[name] ??= { ...schema, description };
      }
      const answer = answerOf(operation);
      if (answer === null) continue;
      (methods[method.toUpperCase()] ??= {})[path] = operationSchema(operation, queries.find(operation), answer);
    }
  }
  const operations = Object.entries(methods).map(([method, byPath]) => [method, objectOf(byPath)]);
  return extractShared({
    ...components.schemas,
    ...queries.shared,
    Operations: { ...objectOf(Object.fromEntries(operations)), description: 'The operations by method and path.' },
    PathParameters: { ...objectOf(parameters), description: 'The parameters in paths.' },
  });
}

/** The schemas of queries. A schema that several operations share gets a name. */
class QuerySchemas {
  readonly shared: Record<string, Schema> = {};
  readonly #names = new Map<string, string>();

  constructor(paths: Document['paths']) {
    const once = new Map<string, string>();
    for (const operation of Object.values(paths).flatMap((operations) => Object.values(operations))) {
      const schema = queryOf(operation);
      // An intersection with nothing else needs no name.
      if (schema === null || Object.keys(schema.properties ?? {}).every((name) => GROUPS.PageQuery.includes(name)))
        continue;
      const text = JSON.stringify(schema);
      const first = once.get(text);
      if (first === undefined) {
        once.set(text, `${operation.operationId[0]?.toUpperCase()}${operation.operationId.slice(1)}Query`);
      } else {
        this.#names.set(text, first);
        this.shared[first] = schema;
      }
    }
  }

  find(operation: Operation): Schema | null {
    const schema = queryOf(operation);
    const name = this.#names.get(JSON.stringify(schema));
    return name === undefined ? schema : { $ref: `#/components/schemas/${name}` };
  }
}

function queryOf({ parameters = [] }: Operation): Schema | null {
  const queries = parameters.filter((parameter) => parameter.in === 'query');
  if (queries.length === 0) return null;
  return objectOf(
    Object.fromEntries(
      queries.map(({ name, schema: { type, enum: values }, description }) => [
        name,
        { type, enum: values, description },
      ]),
    ),
    queries.filter((parameter) => parameter.required).map(({ name }) => name),
  );
}

/** Returns the schema of the JSON that a successful operation answers; null if it answers text. */
function answerOf({ responses }: Operation): Schema | null {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const schemas = successes.flatMap(([, { content }]): Schema[] => {
    if (content === undefined) return [{ type: 'null' }];
    const schema = content[JSON_TYPE]?.schema;
    return schema === undefined ? [] : [schema];
  });
  const unique = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return unique.length > 1 ? { anyOf: unique } : (unique[0] ?? null);
}

function operationSchema({ parameters = [], requestBody }: Operation, query: Schema | null, answer: Schema): Schema {
  const body = requestBody?.content[JSON_TYPE]?.schema;
  const isQueryRequired = parameters.some((parameter) => parameter.in === 'query' && parameter.required);
  return objectOf({ ...(query === null ? {} : { query }), ...(body === undefined ? {} : { body }), answer }, [
    ...(isQueryRequired ? ['query'] : []),
    ...(requestBody?.required === true ? ['body'] : []),
    'answer',
  ]);
}

function objectOf(properties: Record<string, Schema>, required = Object.keys(properties)): Schema {
  return { type: 'object', properties, required };
}

/** Replaces what repeats by references: the members of other schemas and of groups, and named lists of values. */
function extractShared(schemas: Record<string, Schema>): Record<string, Schema> {
  const shared: Record<string, Schema> = {};
  const bases = Object.entries(schemas).sort(([, one], [, other]) => sizeOf(other) - sizeOf(one));
  const extract = (value: unknown, ownName = ''): unknown => {
    if (Array.isArray(value)) return value.map((item) => extract(item));
    if (typeof value !== 'object' || value === null) return value;
    const schema: Schema = { ...value };
    const { description, deprecated, enum: values, properties } = schema;
    const words = {
      ...(description === undefined ? {} : { description }),
      ...(deprecated === true ? { deprecated } : {}),
    };
    const valuesName = VALUES[String(Array.isArray(values) ? values.at(-1) : '')];
    if (valuesName !== undefined) {
      const list: Schema = { type: 'string', enum: values };
      shared[valuesName] ??= list;
      if (JSON.stringify(shared[valuesName]) !== JSON.stringify(list)) throw new Error(`There are two ${valuesName}.`);
      return { ...referTo(valuesName), ...words };
    }
    const isBase = ([name, base]: [string, Schema]): boolean =>
      sizeOf(base) >= MIN_BASE &&
      contains(base, base) &&
      (sizeOf(base) < sizeOf(schema) || ownName === '') &&
      name !== ownName &&
      contains(schema, base);
    const [name, base] = (properties === undefined ? undefined : bases.find(isBase)) ?? groupIn(schema, shared) ?? [];
    if (name === undefined || base === undefined) {
      return Object.fromEntries(Object.entries(schema).map(([key, member]) => [key, extract(member)]));
    }
    const rest = without(schema, base);
    return sizeOf(rest) === 0 ? { ...referTo(name), ...words } : { allOf: [referTo(name), extract(rest)], ...words };
  };
  const named = Object.entries(schemas).map(([name, schema]) => [name, extract(schema, name)]);
  return { ...Object.fromEntries(named), ...shared };
}

/** Returns the group whose members the schema has, as where the group occurs first. */
function groupIn(schema: Schema, shared: Record<string, Schema>): [string, Schema] | undefined {
  for (const [name, members] of Object.entries(GROUPS)) {
    if (!members.every((member) => Object.hasOwn(schema.properties ?? {}, member))) continue;
    const group = (shared[name] ??= without(
      schema,
      without(schema, objectOf(Object.fromEntries(members.map((member) => [member, {}])))),
    ));
    if (contains(schema, group)) return [name, group];
  }
  return undefined;
}

const referTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

function sizeOf({ properties = {} }: Schema): number {
  return Object.keys(properties).length;
}

/** Returns whether a plain object schema has all members of another one, with the same descriptions. */
function contains(schema: Schema, base: Schema): boolean {
  const { properties = {}, required = [] } = schema;
  const others = Object.keys(schema).filter((keyword) => !PLAIN_KEYWORDS.includes(keyword));
  if (others.length > 0 || schema['type'] !== 'object' || base['type'] !== 'object') return false;
  return Object.entries(base.properties ?? {}).every(
    ([name, member]) =>
      JSON.stringify(properties[name]) === JSON.stringify(member) &&
      required.includes(name) === (base.required ?? []).includes(name),
  );
}

/** Returns an object schema without the members of another one. */
function without({ properties = {}, required = [] }: Schema, base: Schema): Schema {
  const isOther = (name: string): boolean => !Object.hasOwn(base.properties ?? {}, name);
  return objectOf(
    Object.fromEntries(Object.entries(properties).filter(([name]) => isOther(name))),
    required.filter(isOther),
  );
}
