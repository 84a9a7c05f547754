import formats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Json = Record<string, unknown>;

export const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;
export type Method = (typeof METHODS)[number];

/** A documented operation. */
export interface Operation {
  method: Method;
  /** With parameters in braces. */
  path: string;
  description: Json;
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a member that must be an object. */
export function member(value: unknown, name: string): Json {
  const found = isJson(value) ? value[name] : undefined;
  return isJson(found) ? found : {};
}

/** Returns the objects of an array. */
export function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

/** Returns the place that a reference within the document names. */
function tokensOf({ $ref }: Json): string[] {
  return String($ref)
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Resolves a reference within the document. Returns any other value unchanged. Throws for a dangling reference. */
export function resolved(document: unknown, value: Json): Json {
  if (!('$ref' in value)) return value;
  const found = tokensOf(value).reduce<unknown>((at, token) => (isJson(at) ? at[token] : undefined), document);
  if (!isJson(found)) throw new Error(`${String(value['$ref'])} leads nowhere`);
  return found;
}

/** Returns the operations of an OpenAPI document. */
export function operationsOf(document: unknown): Operation[] {
  return Object.entries(member(document, 'paths')).flatMap(([path, operations]) =>
    METHODS.filter((method) => isJson(operations) && isJson(operations[method])).map((method) => ({
      method,
      path,
      description: member(operations, method),
    })),
  );
}

/** Paths of the application that are not operations of the API. */
const UNDOCUMENTED = /^\/$|^\/(docs|openapi\.(json|yaml)|oauth2-redirect\.html)/;

/** Headers that clients act on. */
const TELLING_HEADERS = ['etag', 'link', 'retry-after', 'www-authenticate', 'idempotency-replayed', 'x-request-id'];

/** An HTTP response of supertest. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string | undefined;
  body: unknown;
}

/**
 * Checks responses against an OpenAPI document: it documents the operation, the status and the content type, and the body
 * matches the schema without further members.
 */
export class Conformance {
  private readonly ajv: Ajv2020;
  private readonly operations: (Operation & { pattern: RegExp })[];
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly document: unknown;

  constructor(document: unknown) {
    this.document = document;
    // The members of an OpenAPI document that are not keywords of JSON Schema.
    const keywords = ['openapi', 'info', 'servers', 'tags', 'paths', 'webhooks', 'components', 'example'];
    this.ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, keywords });
    formats.default(this.ajv);
    this.ajv.addSchema(asObject(closed(document)), 'openapi');
    this.operations = operationsOf(document)
      .map((operation) => ({
        ...operation,
        pattern: new RegExp(`^${operation.path.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
      }))
      // A fixed segment wins over a parameter.
      .sort((a, b) => (a.path.replaceAll('{', '~') < b.path.replaceAll('{', '~') ? -1 : 1));
  }

  /** Returns how and where the response differs from the documented ones; null if it conforms. */
  faultOf(method: string, url: string, answer: Answer): string | null {
    const path = url.split('?')[0] ?? '';
    if (UNDOCUMENTED.test(path)) return null;
    const operation = this.operations.find((one) => one.method === method && one.pattern.test(path));
    const place = `${method.toUpperCase()} ${operation?.path ?? path} ${answer.status}`;
    if (operation === undefined) {
      return [404, 405, 429].includes(answer.status) ? null : `${place}: no such operation is documented`;
    }
    const documented = member(member(operation.description, 'responses'), String(answer.status));
    if (Object.keys(documented).length === 0) return `${place}: this status is not documented`;
    const response = resolved(this.document, documented);
    const [type = ''] = (answer.headers['content-type'] ?? '').split(';');
    const content = member(response, 'content');
    const named = Object.keys(member(response, 'headers')).map((name) => name.toLowerCase());
    const unnamed = TELLING_HEADERS.filter((name) => name in answer.headers && !named.includes(name));
    if (unnamed.length > 0) return `${place}: headers that are not documented: ${unnamed.join(', ')}`;
    if (answer.text === undefined || answer.text === '') return null;
    if (!(type in content)) return `${place}: ${type} is not documented`;
    if (type !== 'application/json') return null;
    const validate = this.compile(
      '$ref' in documented
        ? [...tokensOf(documented), 'content', type, 'schema']
        : ['paths', operation.path, method, 'responses', String(answer.status), 'content', type, 'schema'],
    );
    if (validate(answer.body)) return null;
    return `${place}: ${this.ajv.errorsText(validate.errors)}\n${answer.text.slice(0, 1000)}`;
  }

  /** Throws unless the value matches the schema at this place of the document, without further members. */
  checkValue(pointer: readonly string[], value: unknown): void {
    const validate = this.compile(pointer);
    if (!validate(value)) throw new Error(`${pointer.join(' ')}: ${this.ajv.errorsText(validate.errors)}`);
  }

  /** Returns the validator of the schema at this place of the document. Throws unless it is a strict JSON Schema. */
  compile(pointer: readonly string[]): ValidateFunction {
    const tokens = pointer.map((token) => encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1')));
    const $ref = `openapi#/${tokens.join('/')}`;
    const known = this.validators.get($ref) ?? this.ajv.compile({ $ref });
    this.validators.set($ref, known);
    return known;
  }
}

/** Returns the document with every object schema closed, unless the schema is explicitly open. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (!isJson(value)) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  const isClosed = isJson(copy['properties']) && 'type' in copy && !('additionalProperties' in copy);
  return isClosed ? { ...copy, additionalProperties: false } : copy;
}

function asObject(value: unknown): Json {
  if (!isJson(value)) throw new Error('An OpenAPI document is an object');
  return value;
}
