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

/** The fewest members of a schema that others extend by reference. */
const MIN_BASE = 2;

/** The keywords that do not change the shape of an object beyond its members. */
const MEMBER_KEYWORDS = ['title', 'description', 'deprecated', 'example', 'examples', 'properties', 'required'];

const JSON_TYPE = 'application/json';

/**
 * Parts that several schemas have, each with a place where it is: a schema and the members that lead to the part. Each part gets a schema of its own.
 * If members are named, the part consists of them only.
 */
const PARTS: Readonly<Record<string, readonly [place: string, ...members: string[]]>> = {
  PageQuery: ['ListGrantsQuery', 'limit', 'cursor'],
  MomentQuery: ['GetSubjectQuery', 'as_of', 'basis'],
  VerifyQuery: ['GetSubjectQuery', 'verify', 'depth'],
  DisclosureQuery: ['ListDisclosuresQuery', 'from', 'to', 'principal_id', 'via'],
  WaitQuery: ['GetSnapshotLogProofQuery', 'wait'],
  AbsenceQuery: ['GetAbsenceProofQuery', 'records_from', 'wait'],
  PageEnd: ['GrantPage', 'next_cursor', 'has_more', 'page'],
  OrderedPageEnd: ['SnapshotPage', 'next_cursor', 'has_more', 'page'],
  EventHead: ['GrantCreatedEvent', 'id', 'created_at', 'tenant_id'],
  ErrorBody: ['Error.error'],
  GrantTerms: ['PendingGrant', 'paths', 'starts_at', 'expires_at'],
  ErasedVersionHead: ['Error.error.erased', 'snapshot_id', 'snapshot_version', 'envelope_hash', 'prev_hash'],
  ErasedVersion: ['Error.error.erased'],
  ErasureMark: ['SnapshotHeader.erased'],
  ProvedRecords: ['AbsenceProof.records'],
  LookUp: ['MapProof.look_ups'],
  OtherLeaf: ['MapProof.look_ups.other'],
  ProvedEntry: ['LatestProof.head'],
  TenantCore: ['Tenant.tenant'],
  ChainCheck: ['Verification.chain'],
  HashCheck: ['DiffVerification.hash.from'],
  VersionId: ['DiffResult.from'],
  LogPlace: ['AccessPeriod.granted'],
  EvidenceHash: ['Evidence.hash'],
  GrantedSubjects: ['GrantData.subject'],
  GrantChangeHead: [
    'GrantRevokedChange',
    'log_index',
    'grant_id',
    'tenant_id',
    'grantee_tenant_id',
    'subject',
    'subject_type',
    'subject_id',
  ],
};

/** Lists of values that many schemas have, by their last value. Each gets a schema of its own. */
const VALUES: Readonly<Record<string, string>> = {
  'limit.changed': 'AuditAction',
  'webhook.test': 'DeliveredEventType',
  name: 'DisclosureVia',
  archive_unavailable: 'ErrorCode',
  'grant.expired': 'EventType',
  tenant_owner: 'Role',
  issue_view: 'Scope',
};

/**
 * Returns the schemas for the client's types: those of the document, the parameters in paths, and each operation whose answer is JSON, with its
 * query, body and answer. Members, queries and answers that repeat get a schema of their own.
 */
export function typeSchemas({ paths, components }: Document): Record<string, Schema> {
  const parameters: Record<string, Schema> = {};
  const methods: Record<string, Record<string, Schema>> = {};
  const operations = Object.values(paths).flatMap((byMethod) => Object.values(byMethod));
  const queries = new InlineSchemas(operations, 'Query', queryOf);
  const answers = new InlineSchemas(operations, 'Answer', answerOf);
  for (const [path, byMethod] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(byMethod)) {
      for (const { name, in: place, schema, description } of operation.parameters ?? []) {
        if (place === 'path') parameters[name] ??= { ...schema, description };
      }
      const answer = answers.find(operation);
      if (answer === null) continue;
      (methods[method.toUpperCase()] ??= {})[path] = operationSchema(operation, queries.find(operation), answer);
    }
  }
  const byMethod = Object.entries(methods).map(([method, byPath]) => [method, objectOf(byPath)]);
  const parts = Object.entries(PARTS).map(([name, part]) => [
    name,
    partAt(part, { ...components.schemas, ...queries.all }),
  ]);
  return replaceRepeated(
    {
      ...components.schemas,
      ...queries.shared,
      ...answers.shared,
      Operations: { ...objectOf(Object.fromEntries(byMethod)), description: 'The operations by method and path.' },
      PathParameters: { ...objectOf(parameters), description: 'The parameters in paths.' },
    },
    Object.fromEntries(parts),
  );
}

/** The schemas that operations contain, as queries or as answers. A schema that several operations share gets a name. */
class InlineSchemas {
  readonly all: Record<string, Schema> = {};
  readonly shared: Record<string, Schema> = {};
  readonly #schemaOf: (operation: Operation) => Schema | null;

  constructor(operations: readonly Operation[], kind: string, schemaOf: (operation: Operation) => Schema | null) {
    this.#schemaOf = schemaOf;
    const names = new Map<string, string>();
    for (const operation of operations) {
      const schema = schemaOf(operation);
      const members = Object.keys(schema?.properties ?? {});
      // The part alone needs no second name.
      if (schema === null || members.every((name) => PARTS['PageQuery']?.includes(name))) continue;
      const own = `${operation.operationId[0]?.toUpperCase()}${operation.operationId.slice(1)}${kind}`;
      const first = names.get(JSON.stringify(schema));
      this.all[own] = schema;
      if (first === undefined) names.set(JSON.stringify(schema), own);
      else this.shared[first] = schema;
    }
  }

  find(operation: Operation): Schema | null {
    const schema = this.#schemaOf(operation);
    const shared = Object.entries(this.shared).find(([, other]) => JSON.stringify(other) === JSON.stringify(schema));
    return shared === undefined ? schema : referTo(shared[0]);
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

/** Returns the schema of a part. */
function partAt([place, ...members]: readonly [string, ...string[]], schemas: Record<string, Schema>): Schema {
  const found = place.split('.').reduce((schema: Schema, name) => {
    const member = schema.properties?.[name];
    if (member === undefined) throw new Error(`No part is at ${place}.`);
    return isSchema(member['items']) ? member['items'] : member;
  }, objectOf(schemas));
  if (members.length > 0) return pick(found, (name) => members.includes(name));
  return { ...found, description: undefined, deprecated: undefined };
}

/** Replaces what repeats by references: the members of other schemas and of parts, and named lists of values. */
function replaceRepeated(schemas: Record<string, Schema>, parts: Record<string, Schema>): Record<string, Schema> {
  const lists: Record<string, Schema> = {};
  const bases = Object.entries({ ...schemas, ...parts })
    .filter(([name, base]) => Object.hasOwn(parts, name) || sizeOf(base) >= MIN_BASE)
    .sort(([, one], [, other]) => sizeOf(other) - sizeOf(one));
  const replace = (value: unknown, ownName = ''): unknown => {
    if (Array.isArray(value)) return value.map((item) => replace(item));
    if (!isSchema(value)) return value;
    const { description, deprecated, enum: values } = value;
    const words = {
      ...(description === undefined ? {} : { description }),
      ...(deprecated === true ? { deprecated } : {}),
    };
    const listName = VALUES[String(Array.isArray(values) ? values.at(-1) : '')];
    if (listName !== undefined) {
      const list: Schema = { type: 'string', enum: values };
      lists[listName] ??= list;
      if (JSON.stringify(lists[listName]) !== JSON.stringify(list)) throw new Error(`There are two ${listName}.`);
      return { ...referTo(listName), ...words };
    }
    const [name, base] =
      bases.find(
        ([name, base]) =>
          name !== ownName &&
          contains(value, base) &&
          // Of two named schemas with the same members, neither refers to the other.
          (sizeOf(base) < sizeOf(value) || ownName === ''),
      ) ?? [];
    if (name === undefined || base === undefined) {
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replace(member)]));
    }
    const rest = pick(value, (member) => !Object.hasOwn(base.properties ?? {}, member));
    return sizeOf(rest) === 0 ? { ...referTo(name), ...words } : { allOf: [referTo(name), replace(rest)], ...words };
  };
  const named = Object.entries({ ...schemas, ...parts }).map(([name, schema]) => [name, replace(schema, name)]);
  return { ...Object.fromEntries(named), ...withoutRepeated(lists) };
}

/** Lets a list of values that begins with another one refer to it. */
function withoutRepeated(lists: Record<string, Schema>): Record<string, Schema> {
  const valuesOf = ({ enum: values }: Schema): readonly unknown[] => (Array.isArray(values) ? values : []);
  const shortened = Object.entries(lists).map(([name, list]) => {
    const values = valuesOf(list);
    const start = Object.entries(lists).find(
      ([other, { enum: first }]) => other !== name && String(values).startsWith(`${String(first)},`),
    );
    if (start === undefined) return [name, list];
    return [name, { anyOf: [referTo(start[0]), { type: 'string', enum: values.slice(valuesOf(start[1]).length) }] }];
  });
  return Object.fromEntries(shortened);
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const referTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

function sizeOf({ properties = {} }: Schema): number {
  return Object.keys(properties).length;
}

/** Returns whether an object schema has all members of another one, with the same descriptions, and is otherwise of the same shape. */
function contains(schema: Schema, base: Schema): boolean {
  const { properties = {}, required = [] } = schema;
  if (schema.properties === undefined || shapeOf(schema) !== shapeOf(base)) return false;
  if (schema['type'] !== 'object' && sizeOf(schema) !== sizeOf(base)) return false;
  return Object.entries(base.properties ?? {}).every(
    ([name, member]) =>
      JSON.stringify(properties[name]) === JSON.stringify(member) &&
      required.includes(name) === (base.required ?? []).includes(name),
  );
}

/** Returns the keywords of an object schema that do not describe its members. */
function shapeOf(schema: Schema): string {
  return JSON.stringify(
    Object.entries(schema)
      .filter(([keyword]) => !MEMBER_KEYWORDS.includes(keyword))
      .sort(),
  );
}

/** Returns an object schema with some of its members. */
function pick({ properties = {}, required = [] }: Schema, isPicked: (name: string) => boolean): Schema {
  return objectOf(
    Object.fromEntries(Object.entries(properties).filter(([name]) => isPicked(name))),
    required.filter(isPicked),
  );
}
