import formats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Json = Record<string, unknown>;

export const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;
export type Method = (typeof METHODS)[number];

/** One documented operation. */
export interface Operation {
  method: Method;
  /** With its parameters in braces. */
  path: string;
  description: Json;
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member that must be an object. */
export function member(value: unknown, name: string): Json {
  const found = isJson(value) ? value[name] : undefined;
  return isJson(found) ? found : {};
}

/** The objects of an array. */
export function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

/** The place that a reference within the document names. */
function tokensOf({ $ref }: Json): string[] {
  return String($ref)
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** What a reference within the document leads to; anything else is that itself. Throws when it leads nowhere. */
export function resolved(document: unknown, value: Json): Json {
  if (!('$ref' in value)) return value;
  const found = tokensOf(value).reduce<unknown>((at, token) => (isJson(at) ? at[token] : undefined), document);
  if (!isJson(found)) throw new Error(`${String(value['$ref'])} leads nowhere`);
  return found;
}

/** Every operation of an OpenAPI document. */
export function operationsOf(document: unknown): Operation[] {
  return Object.entries(member(document, 'paths')).flatMap(([path, operations]) =>
    METHODS.filter((method) => isJson(operations) && isJson(operations[method])).map((method) => ({
      method,
      path,
      description: member(operations, method),
    })),
  );
}

/** Ways of the application that are no operations of the API. */
const UNDOCUMENTED = /^\/$|^\/(docs|openapi\.(json|yaml)|oauth2-redirect\.html)/;

/** Headers that clients act on. */
const TELLING_HEADERS = ['etag', 'link', 'retry-after', 'www-authenticate', 'idempotency-replayed', 'x-request-id'];

/** An HTTP answer, as supertest gives it. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string | undefined;
  body: unknown;
}

/**
 * Holds answers to an OpenAPI document: the operation, its status and its content type are documented, and the body
 * is what the schema says, with no member that it does not name.
 */
export class Conformance {
  private readonly ajv: Ajv2020;
  private readonly operations: (Operation & { pattern: RegExp })[];
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly document: unknown;

  constructor(document: unknown) {
    this.document = document;
    // The members of an OpenAPI document that are no keywords of JSON Schema.
    const keywords = ['openapi', 'info', 'servers', 'tags', 'paths', 'webhooks', 'components', 'example'];
    this.ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, keywords });
    formats.default(this.ajv);
    this.ajv.addSchema(asObject(closed(document)), 'openapi');
    this.operations = operationsOf(document)
      .map((operation) => ({
        ...operation,
        pattern: new RegExp(`^${operation.path.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
      }))
      // A fixed segment wins over a parameter in its place.
      .sort((a, b) => (a.path.replaceAll('{', '~') < b.path.replaceAll('{', '~') ? -1 : 1));
  }

  /** Says how the answer differs from the documented ones, and where; null when it is one of them. */
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

  /** Throws unless the value is what the schema at this place of the document says, with no member beyond. */
  checkValue(pointer: readonly string[], value: unknown): void {
    const validate = this.compile(pointer);
    if (!validate(value)) throw new Error(`${pointer.join(' ')}: ${this.ajv.errorsText(validate.errors)}`);
  }

  /** The validator of the schema at this place of the document. Throws unless that is a strict JSON Schema. */
  compile(pointer: readonly string[]): ValidateFunction {
    const tokens = pointer.map((token) => encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1')));
    const $ref = `openapi#/${tokens.join('/')}`;
    const known = this.validators.get($ref) ?? this.ajv.compile({ $ref });
    this.validators.set($ref, known);
    return known;
  }
}

/** The document with every object schema closed that does not say that it is open. */
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
