import {
  type ResponseFacts,
  EXAMPLE_IDS,
  errorAnswer,
  ERROR_STATUSES,
  ONE_OF_TWO,
  type Operation,
  pageBounds,
  PATH_PARAMETERS,
  type WhoMayCall,
} from '@iss/contract';
import { type AccessRule, ERROR_CODES, type ErrorCode, type Schema } from '@iss/domain';
import type { Limits } from '@iss/platform';
import type { OpenAPIObject } from '@nestjs/swagger';

type Path = OpenAPIObject['paths'][string];
type Described = NonNullable<Path['get']>;
type RequestBody = NonNullable<Described['requestBody']>;
type Parameter = Exclude<NonNullable<Described['parameters']>[number], { $ref: string }>;

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the document of operations and webhooks. Moves repeated schemas into components. */
export function documentOf(
  { openapi, components, ...head }: Omit<OpenAPIObject, 'paths'>,
  operations: readonly Operation[],
  webhooks: Readonly<Record<string, Schema>>,
  limits: Limits,
): OpenAPIObject {
  const schemes = Object.keys(components?.securitySchemes ?? {});
  const errors = new Map<string, readonly ErrorCode[]>();
  const paths: Record<string, Path> = {};
  for (const operation of operations) {
    const groups = errorsOf(operation);
    for (const codes of groups) errors.set(nameOf(codes), codes);
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: describe(operation, groups, schemes, limits),
    };
  }
  const inOrder = [...errors].sort(([, [one = '']], [, [other = '']]) => placeOf(one) - placeOf(other));
  const responses = Object.fromEntries(inOrder.map(([name, codes]) => [name, namedError(codes)]));
  const named = nameSchemas({ paths, webhooks, responses });
  return {
    openapi,
    paths: named.paths,
    ...head,
    components: { ...components, schemas: named.schemas, responses: named.responses, headers: HEADERS },
    webhooks: named.webhooks,
  };
}

function describe(
  operation: Operation,
  groups: readonly ErrorCode[][],
  schemes: readonly string[],
  limits: Limits,
): Described {
  const { id, tag, summary, who, body, deprecated = false } = operation;
  const security = securityOf(operation, schemes);
  return {
    deprecated,
    description: [whoMayCall(who), operation.description].filter((one) => one !== undefined).join('\n\n'),
    operationId: id,
    parameters: parametersOf(operation, limits),
    ...(body === undefined ? {} : { requestBody: bodyOf(operation, body) }),
    responses: responsesOf(operation, groups),
    ...(security.length > 0 ? { security } : {}),
    summary,
    tags: [tag],
    ...(security.length > 0 ? {} : { security }),
  };
}

/** Returns the ways to authenticate; none if no token is needed, and an empty one if a token may be sent. */
function securityOf({ public: when }: Operation, schemes: readonly string[]): Record<string, string[]>[] {
  if (when === 'always') return [];
  const named = schemes.map((scheme) => ({ [scheme]: [] }));
  return when === 'legacy_paths_are_public' ? [{}, ...named] : named;
}

function whoMayCall(who: WhoMayCall): string {
  if (who === 'anyone' || (typeof who === 'object' && 'legacyTenant' in who)) return '**Access:** no token needed.';
  if (who === 'any_principal') return '**Access:** any caller with a valid token.';
  const rule: AccessRule = 'anyTenant' in who ? who.anyTenant : who;
  const role = `**Role:** at least \`${rule.role}\` in the tenant`;
  if (rule.subject === undefined) return `${role}.`;
  if (rule.subject === 'owner') return `${role}. The tenant must own the subject.`;
  if (rule.subject === 'owner_or_grantee')
    return `${role}. The tenant must own the subject or hold a live grant on it.`;
  const scopes = rule.subject.map((scope) => `\`${scope}\``).join(' or ');
  return (
    `${role}. The tenant must own the subject or hold a live grant with ${scopes}. To use a grant, the caller ` +
    'also needs `allow_counterparty_access`.'
  );
}

function bodyOf({ isBodyOptional }: Operation, body: NonNullable<Operation['body']>): RequestBody {
  const { schema, examples } = body;
  const contentType = ('contentType' in body ? body.contentType : undefined) ?? 'application/json';
  return { required: isBodyOptional !== true, content: { [contentType]: { schema, examples } } };
}

function parametersOf(operation: Operation, limits: Limits): Parameter[] {
  const { path, header, etag } = operation;
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => pathParameter(operation, name)),
    ...queryParameters(operation, limits),
    ...(header === undefined ? [] : [headerParameter(header.name, header.description, header.example)]),
    ...(etag === undefined ? [] : [headerParameter('If-None-Match', IF_NONE_MATCH, etag)]),
    ...(takesKey(operation) ? [KEY] : []),
  ].map(withExampleBeside);
}

function headerParameter(name: string, description: string, example: string): Parameter {
  return { name, in: 'header', description, required: false, schema: { type: 'string', example } };
}

function pathParameter({ path, examples }: Operation, name: string): Parameter {
  const parameter = PATH_PARAMETERS[name];
  if (parameter === undefined) throw new Error(`${name}, a parameter of ${path}, is not described`);
  const { description, example: usual, ...schema } = parameter.facts.sent;
  const example: unknown = examples?.[name] ?? usual;
  return { name, required: true, in: 'path', description: String(description), schema: { example, ...schema } };
}

/** Returns the members of the query's schema as parameters. */
function queryParameters({ query, page }: Operation, limits: Limits): Parameter[] {
  const { properties, required }: Schema = query?.schema ?? {};
  return Object.entries(isObject(properties) ? properties : {}).map(([name, property]): Parameter => {
    const { description, deprecated, ...schema } = isObject(property) ? property : {};
    if (name === 'limit' && page !== undefined) {
      const bounds = pageBounds(page, limits);
      Object.assign(schema, { maximum: bounds.max, default: bounds.default });
    }
    return {
      name,
      in: 'query',
      required: Array.isArray(required) && required.includes(name),
      ...(deprecated === true ? { deprecated } : {}),
      ...(typeof description === 'string' ? { description } : {}),
      schema: { example: schema['default'], ...schema },
    };
  });
}

/**
 * Moves the example beside the schema, where readers look for it. Leaves the example of an optional parameter in the
 * schema, because Swagger UI would otherwise fill it in and send it.
 */
function withExampleBeside(parameter: Parameter): Parameter {
  const { example, [ONE_OF_TWO]: isOneOfTwo, ...schema }: Schema = { ...parameter.schema };
  if (example === undefined) return { ...parameter, schema };
  const isPrefilled = parameter.required === true || isOneOfTwo === true || 'default' in schema;
  return isPrefilled ? { ...parameter, schema, example } : { ...parameter, schema: { ...schema, examples: [example] } };
}

const OPEN_PROBES = ['/health', '/v1/ops/readiness'];

/** Returns the errors of an operation, grouped by status. */
function errorsOf(operation: Operation): ErrorCode[][] {
  const { path, who, errors = [], body } = operation;
  const mayBeForbidden = typeof who === 'object' && 'role' in who;
  const given = new Set<ErrorCode>([
    ...errors,
    ...(errors.includes('damaged') ? (['archive_damaged', 'archive_unavailable'] as const) : []),
    // The error for an unknown query parameter.
    'validation_error',
    ...(mayBeForbidden ? (['forbidden'] as const) : []),
    ...(operation.public === 'always' ? [] : (['unauthorized'] as const)),
    ...(body === undefined ? [] : (['payload_too_large', 'unsupported_media_type'] as const)),
    ...(OPEN_PROBES.includes(path) ? [] : (['rate_limited', 'internal_error', 'unavailable'] as const)),
    ...(takesKey(operation) ? ERRORS_OF_KEYS : []),
  ]);
  const answered = ERROR_CODES.filter((code) => given.has(code));
  const statuses = [...new Set(answered.map((code) => ERROR_STATUSES[code]))];
  return statuses.map((status) => answered.filter((code) => ERROR_STATUSES[code] === status));
}

/** Returns the name of the response for codes that share a status. */
function nameOf(codes: readonly ErrorCode[]): string {
  return codes.join('_or_');
}

function placeOf(code: string): number {
  return ERROR_CODES.findIndex((one) => one === code);
}

/**
 * Errors of idempotency keys: the body is read with the key even if the route needs no body, and the number of new keys
 * per principal and day is limited.
 */
const ERRORS_OF_KEYS: readonly ErrorCode[] = ['validation_error', 'limit_reached', 'conflict', 'payload_too_large'];

const KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes the request safe to retry. For 24 hours, the same key with the same body returns the first ' +
    'response again, marked `Idempotency-Replayed: true`. The same key with another body returns 409, and so ' +
    'does a retry while the first request is running.',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: '^[!-~]+$',
    example: '7c4f2a9e-0b1d-4e57-8a3c-5d6f7e8091a2',
  },
};

function takesKey({ method, takesNoKey }: Operation): boolean {
  return method === 'post' && takesNoKey !== true;
}

const IF_NONE_MATCH = 'The `ETag` of an earlier response. If it is still current, the response is 304 without a body.';
const UNCHANGED: ResponseFacts = { description: 'Not modified: `If-None-Match` names the current `ETag`.' };

const seconds = (description: string): Schema => ({ description, schema: { type: 'integer', minimum: 0 } });

/** The headers of responses, by name. */
const HEADERS: Readonly<Record<string, Schema>> = {
  'X-Request-Id': {
    description:
      'Identifies the request in logs, audit records and events. The service keeps the id that you send if it ' +
      'is a valid token.',
    schema: { type: 'string' },
    example: EXAMPLE_IDS.request_id,
  },
  ETag: {
    description:
      'The tag to send as `If-None-Match`. Absent if the response was verified, or if an operator may still ' +
      'fill in its hashes.',
    schema: { type: 'string' },
  },
  'Cache-Control': {
    description:
      '`private, immutable` for content that never changes, `private, no-cache` for the latest version, ' +
      'otherwise `no-store`.',
    schema: { type: 'string' },
  },
  Link: {
    description:
      '`rel="next"` links to the next page of a list. `rel="help"` links to the explanation of an error code.',
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': {
    description: 'Present if this response was stored earlier under the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
  'WWW-Authenticate': {
    description:
      'The challenge (RFC 6750), with `error="invalid_token"` if a token was sent. `resource_metadata` is the ' +
      'address of the service’s metadata (RFC 9728).',
    schema: { type: 'string' },
    example:
      'Bearer error="invalid_token", resource_metadata="https://identity.example.com/.well-known/oauth-protected-resource"',
  },
  'Retry-After': seconds(
    'Seconds to wait before the next try. With 409, the first request with this `Idempotency-Key` is still running.',
  ),
  'RateLimit-Limit': {
    description: 'Requests per minute for the principal, or for the client address if the request has no valid token.',
    schema: { type: 'integer', minimum: 1 },
  },
  'RateLimit-Remaining': {
    description:
      'Requests left in this minute. A request costs 1, plus 1 for each started millisecond of processor time ' +
      'after the first. The extra cost shows in the responses to later requests. See ' +
      '[/docs/limits](/docs/limits).',
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Reset': seconds('Seconds until the next minute begins.'),
  'RateLimit-Policy': { description: 'The limit and its window in seconds.', schema: { type: 'string' } },
};
const RATE_LIMIT = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'];
const HEADERS_OF_ERRORS: Partial<Record<ErrorCode, readonly string[]>> = {
  unauthorized: ['WWW-Authenticate'],
  not_logged_yet: ['Retry-After'],
  conflict: ['Retry-After'],
  rate_limited: ['Retry-After', ...RATE_LIMIT],
  unavailable: ['Retry-After'],
  archive_unavailable: ['Retry-After'],
};

function headers(names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Sent before or instead of the handler's response, and therefore never stored for a key. */
const NEVER_REPLAYED: readonly ErrorCode[] = [
  'unauthorized',
  'rate_limited',
  'internal_error',
  'damaged',
  'archive_damaged',
  'unavailable',
  'archive_unavailable',
];

function namedError(codes: readonly ErrorCode[]) {
  const replayed = codes.every((code) => NEVER_REPLAYED.includes(code)) ? [] : ['Idempotency-Replayed'];
  const names = ['X-Request-Id', 'Link', ...replayed, ...codes.flatMap((code) => HEADERS_OF_ERRORS[code] ?? [])];
  return { ...errorAnswer(codes), headers: headers(names) };
}

/** Returns the responses that an operation declares, with their headers, and references to its errors. */
function responsesOf(operation: Operation, groups: readonly ErrorCode[][]): Described['responses'] {
  const { answers, etag, page } = operation;
  const declared = { ...answers, ...(etag === undefined ? {} : { 304: UNCHANGED }) };
  const own = Object.entries<ResponseFacts>(declared).map(([status, answer]) => {
    const names = [
      'X-Request-Id',
      ...(etag === undefined ? [] : ['ETag', 'Cache-Control']),
      ...(page !== undefined || status.startsWith('4') ? ['Link'] : []),
      ...(status === '401' ? ['WWW-Authenticate'] : []),
      ...(takesKey(operation) ? ['Idempotency-Replayed'] : []),
    ];
    return [status, { ...answer, headers: headers(names) }];
  });
  const errors = groups.map((codes) => [
    codes[0] === undefined ? '' : ERROR_STATUSES[codes[0]],
    { $ref: `#/components/responses/${nameOf(codes)}` },
  ]);
  // Errors that an operation declares itself include those that all have with this status.
  return Object.fromEntries([...errors, ...own]);
}

/**
 * Moves every schema with a title into the components and leaves a reference. Throws if two schemas share a title and
 * differ.
 */
function nameSchemas<Parts extends object>(parts: Parts): Parts & { schemas: Record<string, Schema> } {
  const schemas: Record<string, Schema> = {};
  const texts = new Map<string, string>();
  const hoist = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hoist);
    if (!isObject(value)) return value;
    const copy = Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, isData(key) ? member : hoist(member)]),
    );
    const { title } = copy;
    if (typeof title !== 'string' || !('type' in copy)) return copy;
    const text = JSON.stringify(copy);
    if ((texts.get(title) ?? text) !== text) throw new Error(`Two schemas are named ${title}`);
    texts.set(title, text);
    schemas[title] = copy;
    return { $ref: `#/components/schemas/${title}` };
  };
  const hoisted = hoist(parts);
  const sorted = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  // References replace schemas only, so the parts keep their shape.
  return { ...(hoisted as Parts), schemas: Object.fromEntries(sorted) };
}

/** Returns whether the member holds an example, whose contents are data and not schemas. */
function isData(key: string): boolean {
  return key === 'example' || key === 'examples';
}
