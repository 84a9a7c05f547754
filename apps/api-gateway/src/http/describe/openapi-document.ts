import { ERROR_CODES, type ErrorCode, type Schema } from '@iss/domain';
import type { Limits } from '@iss/platform';
import type { OpenAPIObject } from '@nestjs/swagger';
import { EXAMPLE_IDS, ONE_OF_TWO, pageBounds, type PageLimits } from '@iss/contract';
import { ERROR_STATUSES } from '../errors/error-statuses';
import { errorAnswer, ROUTE, type RouteFacts } from './openapi';
import { PAGE_LIMITS } from '../lists/paging';
import { QUERY } from '../lists/query';
import { PATH_PARAMETERS } from '../request/path-params';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Parameter = Exclude<NonNullable<Operation['parameters']>[number], { $ref: string }>;
type Answer = Exclude<NonNullable<Operation['responses'][string]>, { $ref: string }>;

const isParameter = (value: NonNullable<Operation['parameters']>[number]): value is Parameter => 'name' in value;
const isAnswer = (value: Operation['responses'][string]): value is Answer => value !== undefined && !('$ref' in value);
const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Completes the document that @nestjs/swagger makes of the controllers. Adds the effects of guards, filters and
 * middlewares, which no controller declares, and moves repeated schemas into components.
 */
export function completeDocument(document: OpenAPIObject, limits: Limits, canSignIn: boolean): void {
  const components = (document.components ??= {});
  const errors = new Map<string, readonly ErrorCode[]>();
  for (const { path, method, operation } of operationsOf(document)) {
    const route = take(operation, ROUTE);
    nameWhoMayCall(operation, canSignIn);
    describePath(operation, path, route);
    describeQuery(operation, limits);
    if (takesKey(method, route)) describeIdempotency(operation);
    describeAnswers(operation);
    for (const codes of describeErrors(operation, path, method, route)) errors.set(nameOf(codes), codes);
    tidyParameters(operation, path);
  }
  const inOrder = [...errors].sort(([, [one = '']], [, [other = '']]) => placeOf(one) - placeOf(other));
  const responses = Object.fromEntries(inOrder.map(([name, codes]) => [name, namedError(codes)]));
  Object.assign(components, { responses, headers: HEADERS });
  nameSchemas(document);
}

function operationsOf(document: OpenAPIObject): { path: string; method: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, { get, put, post, patch, delete: remove }]) =>
    Object.entries({ get, put, post, patch, delete: remove }).flatMap(([method, operation]) =>
      operation === undefined ? [] : [{ path, method, operation }],
    ),
  );
}

/**
 * Lets operations with a bearer token also take a token from Swagger UI's sign-in. Operations without a token say so.
 */
function nameWhoMayCall(operation: Operation, canSignIn: boolean): void {
  const named = operation.security ?? [];
  // Operations of one controller share the array.
  operation.security = named.length > 0 && canSignIn ? [...named, { oidc: [] }] : named;
}

/** Removes an internal extension from an operation and returns its value. */
function take(operation: Operation, extension: string): unknown {
  const value: unknown = Reflect.get(operation, extension);
  Reflect.deleteProperty(operation, extension);
  return value;
}

function describePath(operation: Operation, path: string, route: unknown): void {
  const examples = isRoute(route) ? route.examples : {};
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): Parameter => {
    const parameter = PATH_PARAMETERS[name];
    if (parameter === undefined) throw new Error(`${name}, a parameter of ${path}, is not described`);
    const { description, example: usual, ...schema } = parameter.facts.sent;
    const example: unknown = examples?.[name] ?? usual;
    return { name, required: true, in: 'path', description: String(description), schema: { example, ...schema } };
  });
  operation.parameters = [...(operation.parameters ?? []), ...parameters];
}

/** Shows the members of the query's schema as parameters. */
function describeQuery(operation: Operation, limits: Limits): void {
  const shape = take(operation, QUERY);
  const page = take(operation, PAGE_LIMITS);
  if (!isObject(shape) || !isObject(shape['properties'])) return;
  const required: unknown = shape['required'];
  const parameters = Object.entries(shape['properties']).map(([field, property]): Parameter => {
    const { description, deprecated, ...schema } = isObject(property) ? property : {};
    if (field === 'limit' && isPageLimits(page)) {
      const bounds = pageBounds(page, limits);
      Object.assign(schema, { maximum: bounds.max, default: bounds.default });
    }
    return {
      name: field,
      in: 'query',
      required: Array.isArray(required) && required.includes(field),
      ...(deprecated === true ? { deprecated } : {}),
      ...(typeof description === 'string' ? { description } : {}),
      schema: { example: schema['default'], ...schema },
    };
  });
  operation.parameters = [...(operation.parameters ?? []), ...parameters];
}

function isRoute(value: unknown): value is RouteFacts {
  return isObject(value) && 'mayBeForbidden' in value;
}

function isPageLimits(value: unknown): value is PageLimits {
  return isObject(value) && 'default' in value && 'max' in value;
}

/**
 * Sorts the parameters by their order in the request. Moves examples beside the schemas, where readers look for them,
 * but drops those of optional parameters, because Swagger UI would fill them in and send them.
 */
function tidyParameters(operation: Operation, path: string): void {
  const place = ({ in: location, name }: Parameter): number =>
    location === 'path' ? path.indexOf(`{${name}}`) : path.length + ['query', 'header'].indexOf(location);
  operation.parameters = (operation.parameters ?? [])
    .filter(isParameter)
    .map((parameter): Parameter => {
      const { example, [ONE_OF_TWO]: isOneOfTwo, ...schema }: Schema = { ...parameter.schema };
      if (example === undefined) return { ...parameter, schema };
      const isPrefilled = parameter.required === true || isOneOfTwo === true || 'default' in schema;
      return isPrefilled
        ? { ...parameter, schema, example }
        : { ...parameter, schema: { ...schema, examples: [example] } };
    })
    .sort((a, b) => place(a) - place(b));
}

const OPEN_PROBES = ['/health', '/v1/ops/readiness'];

/** Adds the errors of an operation as references. Returns the groups of codes that share a status. */
function describeErrors(operation: Operation, path: string, method: string, route: unknown): ErrorCode[][] {
  const isBodied = operation.requestBody !== undefined;
  const { errors = [], mayBeForbidden = false } = isRoute(route) ? route : {};
  const given = new Set<ErrorCode>([
    ...errors,
    // For an unknown query parameter.
    'validation_error',
    ...(mayBeForbidden ? (['forbidden'] as const) : []),
    ...(operation.security?.length === 0 ? [] : (['unauthorized'] as const)),
    ...(isBodied ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    ...(OPEN_PROBES.includes(path) ? [] : (['rate_limited', 'internal_error', 'unavailable'] as const)),
    ...(takesKey(method, route) ? ERRORS_OF_KEYS : []),
  ]);
  const answered = ERROR_CODES.filter((code) => given.has(code));
  const statuses = [...new Set(answered.map((code) => ERROR_STATUSES[code]))];
  return statuses.map((status) => {
    const codes = answered.filter((code) => ERROR_STATUSES[code] === status);
    operation.responses[status] = { $ref: `#/components/responses/${nameOf(codes)}` };
    return codes;
  });
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

function takesKey(method: string, route: unknown): boolean {
  return method === 'post' && !(isRoute(route) && route.takesNoKey === true);
}

function describeIdempotency(operation: Operation): void {
  operation.parameters = [...(operation.parameters ?? []), KEY];
}

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
  'unavailable',
];

function namedError(codes: readonly ErrorCode[]): Schema {
  const replayed = codes.every((code) => NEVER_REPLAYED.includes(code)) ? [] : ['Idempotency-Replayed'];
  const names = ['X-Request-Id', 'Link', ...replayed, ...codes.flatMap((code) => HEADERS_OF_ERRORS[code] ?? [])];
  return { ...errorAnswer(codes), headers: headers(names) };
}

/** The only error that belongs to single operations. It shares its code with 415. */
const NOT_ACCEPTABLE = '406';

/** Adds the headers to the responses that each operation declares itself. */
function describeAnswers(operation: Operation): void {
  const isConditional = '304' in operation.responses;
  const isList = operation.parameters?.some((parameter) => isParameter(parameter) && parameter.name === 'cursor');
  const isPost = operation.parameters?.some((parameter) => isParameter(parameter) && parameter.name === KEY.name);
  for (const [status, answer] of Object.entries(operation.responses)) {
    if (!isAnswer(answer)) continue;
    answer.headers = headers([
      'X-Request-Id',
      ...(isConditional ? ['ETag', 'Cache-Control'] : []),
      ...(isList || status === NOT_ACCEPTABLE ? ['Link'] : []),
      ...(isPost ? ['Idempotency-Replayed'] : []),
    ]);
  }
}

/**
 * Moves every schema with a title into the components and leaves a reference. Throws if two schemas share a title and
 * differ.
 */
function nameSchemas(document: OpenAPIObject): void {
  const { paths, webhooks, components } = document;
  const schemas: Record<string, unknown> = {};
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
  const responses = hoist(components?.responses);
  Object.assign(document, { paths: hoist(paths), webhooks: hoist(webhooks) });
  const sorted = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  Object.assign(document, { components: { ...components, schemas: Object.fromEntries(sorted), responses } });
}

/** Returns whether the member holds an example, whose contents are data and not schemas. */
function isData(key: string): boolean {
  return key === 'example' || key === 'examples';
}
