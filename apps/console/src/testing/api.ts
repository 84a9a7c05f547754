import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

interface Schema {
  readonly $ref?: string;
}
interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Answer {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Answer>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Answer>> };
}

/** One request that a page sent. */
export interface Call {
  /** Named as in openapi.json: `GET /v1/tenants/{tenant_id}`. */
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Members that replace those of the example, or a function that turns the example's answer into another one. */
type Change<T> = Partial<T> | ((example: T, call: Call) => unknown);
type Reply = (operation: Operation, call: Call) => Response;

const document: Document = JSON.parse(readFileSync(join(__dirname, '../../../../openapi.json'), 'utf8'));
const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false });
addFormats(ajv);
ajv.addSchema(document, 'openapi');

/** The operations, sorted by the number of parameters in their paths. */
const OPERATIONS = Object.entries(document.paths)
  .flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      pattern: new RegExp(`^${method} ${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`, 'i'),
      parameters: path.split('{').length,
      operation,
    })),
  )
  .sort((one, other) => one.parameters - other.parameters);

const validators = new Map<string, ValidateFunction>();

function faultOf(pointer: string, value: unknown): string | null {
  const path = pointer.split('/').map((token) => encodeURIComponent(token));
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `openapi#${path.join('/')}` });
  validators.set(pointer, validate);
  return validate(value) ? null : `${pointer}: ${ajv.errorsText(validate.errors)}`;
}

const pointerOf = (...tokens: readonly string[]): string =>
  tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/**
 * Answers the requests of a page with the examples of openapi.json. Each answer, and each body that a page sends, must
 * match its schema. A request that openapi.json does not contain is a fault.
 */
export class MockApi {
  readonly calls: Call[] = [];
  readonly faults: string[] = [];
  private readonly replies = new Map<string, Reply>();
  private isHungUp = false;
  private readonly streams: ReadableStreamDefaultController<Uint8Array>[] = [];

  /** Changes the answer of one operation. */
  answer<T extends object>(route: string, change: Change<T>): void {
    this.reply(route, (operation, call) => {
      const { status, type, media } = exampleOf(operation);
      const example: T = JSON.parse(JSON.stringify(media.example));
      const value = typeof change === 'function' ? change(example, call) : { ...example, ...change };
      this.hold(route, status, type, value);
      return respond(Number(status), type, value);
    });
  }

  /** The refusal statuses of a route that pages must show. */
  refusals(route: string): number[] {
    const operation = OPERATIONS.find((one) => one.route === route)?.operation;
    return [403, 404, 429, 500].filter((status) => operation?.responses[String(status)] !== undefined);
  }

  /**
   * Makes one operation refuse, with a status that openapi.json allows. Returns the message. `message` replaces the
   * message of the example.
   */
  refuse(route: string, status: number, message?: string): string {
    const operation = OPERATIONS.find((one) => one.route === route)?.operation;
    const name = operation?.responses[String(status)]?.$ref?.split('/').at(-1);
    if (name === undefined) throw new Error(`${route} never answers ${status}.`);
    const media = document.components.responses[name]?.content?.['application/json'];
    const body: { error: { message: string } } = JSON.parse(
      JSON.stringify(media?.example ?? Object.values(media?.examples ?? {})[0]?.value),
    );
    if (message !== undefined) body.error.message = message;
    this.reply(route, () => respond(status, 'application/json', body, { 'Retry-After': '0' }));
    return body.error.message;
  }

  /** Makes one operation answer like a proxy between the page and the service. */
  reply(route: string, reply: Reply): void {
    if (!OPERATIONS.some((one) => one.route === route)) throw new Error(`openapi.json has no ${route}.`);
    this.replies.set(route, reply);
  }

  /** Makes one operation answer with its example again. */
  restore(route: string): void {
    this.replies.delete(route);
  }

  /** The requests that changed something: the route, its path and its body. */
  sent(): readonly (readonly [method: string, path: string, body?: unknown])[] {
    return this.calls
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path, body }) => (body === undefined ? [method, path] : [method, path, body]));
  }

  /** The queries of the requests to an operation, in their order. */
  asked(route: string): readonly Readonly<Record<string, string>>[] {
    return this.calls.filter((call) => call.route === route).map(({ query }) => query);
  }

  /** Sends a change to the pages that follow the feed. */
  tell(change: { readonly log_index: number }): void {
    const event = `id: ${change.log_index}\ndata: ${JSON.stringify(change)}\n\n`;
    for (const stream of this.streams) stream.enqueue(new TextEncoder().encode(event));
  }

  /** Breaks the streams of the feed. No stream opens until the next call. */
  hangUp(isHungUp = true): void {
    this.isHungUp = isHungUp;
    for (const stream of this.streams.splice(0)) stream.error(new TypeError('terminated'));
  }

  /** The `fetch` of the page. */
  readonly fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(input), 'https://console.example');
    const method = init.method ?? 'GET';
    const headers = new Headers(init.headers);
    const found = OPERATIONS.find(({ pattern }) => pattern.test(`${method} ${url.pathname}`));
    if (found === undefined) {
      this.faults.push(`${method} ${url.pathname} is not in openapi.json`);
      return respond(404, 'text/plain', '');
    }
    const { route, operation } = found;
    const type = headers.get('Content-Type') ?? 'application/json';
    const text = typeof init.body === 'string' ? init.body : undefined;
    const body: unknown = text === undefined || type !== 'application/json' ? text : JSON.parse(text);
    const query = Object.fromEntries(url.searchParams);
    const call: Call = { route, method, path: url.pathname, query, body };
    this.calls.push(call);
    this.check(call, operation, type);
    try {
      const accept = headers.get('Accept') ?? '';
      if (accept === 'text/event-stream') return this.isHungUp ? Response.error() : this.stream(init.signal ?? null);
      const reply = this.replies.get(route);
      if (reply !== undefined) return reply(operation, call);
      const { status, type: answered, media } = exampleOf(operation, accept);
      this.hold(route, status, answered, media.example);
      return respond(Number(status), answered, media.example);
    } catch (error) {
      this.faults.push(`${route}: ${String(error)}`);
      throw error;
    }
  };

  private check({ route, query, body }: Call, { parameters = [], requestBody }: Operation, type: string): void {
    for (const name of Object.keys(query)) {
      if (!parameters.some((one) => one.in === 'query' && one.name === name)) {
        this.faults.push(`${route} takes no ?${name}`);
      }
    }
    if (body === undefined) return;
    const [method = '', path = ''] = route.split(' ');
    if (requestBody?.content[type] === undefined) {
      this.faults.push(`${route} takes no body of ${type}`);
      return;
    }
    const pointer = pointerOf('paths', path, method.toLowerCase(), 'requestBody', 'content', type, 'schema');
    this.note(faultOf(pointer, body));
  }

  private hold(route: string, status: string, type: string, value: unknown): void {
    const [method = '', path = ''] = route.split(' ');
    if (type !== 'application/json') return;
    this.note(
      faultOf(
        pointerOf('paths', path, method.toLowerCase(), 'responses', status, 'content', type, 'schema'),
        JSON.parse(JSON.stringify(value)),
      ),
    );
  }

  private note(fault: string | null): void {
    if (fault !== null) this.faults.push(fault);
  }

  private stream(signal: AbortSignal | null): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.streams.push(controller);
        signal?.addEventListener('abort', () => {
          this.streams.splice(this.streams.indexOf(controller), 1);
          controller.error(signal.reason);
        });
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  }
}

/** Returns the answer of an operation when it succeeds, in the requested media type or the first one. */
function exampleOf({ responses }: Operation, accept = ''): { status: string; type: string; media: Media } {
  const [status = '', answer] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  const content = Object.entries(answer?.content ?? {});
  const [type, media] = content.find(([one]) => one === accept) ?? content[0] ?? ['', { schema: {} }];
  return { status, type, media };
}

function respond(status: number, type: string, value: unknown, headers: Record<string, string> = {}): Response {
  const isJson = type === 'application/json';
  const text = type === '' ? null : isJson || typeof value !== 'string' ? JSON.stringify(value) : value;
  return new Response(type === 'application/x-ndjson' ? `${text}\n` : text, {
    status,
    headers: { 'X-Request-Id': 'req-1', ...headers, ...(type === '' ? {} : { 'Content-Type': type }) },
  });
}
