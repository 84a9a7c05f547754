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

const JSON_TYPE = 'application/json';

/** Members that many schemas have. Each group gets a schema of its own. */
const GROUPS = {
  PageEnd: ['next_cursor', 'has_more', 'page'],
  PageQuery: ['limit', 'cursor'],
  EventHead: ['id', 'created_at', 'tenant_id'],
} satisfies Record<string, readonly string[]>;

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
  return extractGroups({
    ...components.schemas,
    ...queries.shared,
    Operations: { ...objectOf(Object.fromEntries(operations)), description: 'The operations by method and path.' },
    PathParameters: { ...objectOf(parameters), description: 'The parameters in paths.' },
  });
}

/** The schemas of queries. One that several operations have gets a name. */
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

/** Replaces the members of each group by a reference to the group, wherever they are the same as where the group occurs first. */
function extractGroups(schemas: Record<string, Schema>): Record<string, Schema> {
  const groups: Record<string, Schema> = {};
  const extract = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(extract);
    if (typeof value !== 'object' || value === null) return value;
    const schema: Schema = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, extract(member)]));
    const { properties, required = [] } = schema;
    if (schema['type'] !== 'object' || properties === undefined) return schema;
    for (const [name, members] of Object.entries(GROUPS)) {
      if (!members.every((member) => Object.hasOwn(properties, member))) continue;
      const isIn = ([member]: [string, unknown]): boolean => members.includes(member);
      const isOut = (entry: [string, unknown]): boolean => !isIn(entry);
      const group = objectOf(
        Object.fromEntries(Object.entries(properties).filter(isIn)),
        required.filter((member) => members.includes(member)),
      );
      groups[name] ??= group;
      if (JSON.stringify(groups[name]) !== JSON.stringify(group)) continue;
      const rest = Object.fromEntries(Object.entries(properties).filter(isOut));
      const others = objectOf(
        rest,
        required.filter((member) => !members.includes(member)),
      );
      return { allOf: [{ $ref: `#/components/schemas/${name}` }, ...(Object.keys(rest).length === 0 ? [] : [others])] };
    }
    return schema;
  };
  const rest = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, extract(schema) as Schema]));
  return { ...rest, ...groups };
}
