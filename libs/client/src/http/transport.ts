import { ApiError, ConnectionError, DeadlineError, ProtocolError } from '../errors.ts';
import { DEFAULT_TIMEOUT_MS, MAX_ATTEMPTS } from '../limits.ts';
import { failureOf } from './answer.ts';

/** What a token provider is told: the token that the service just refused, null where it refused none. */
export interface TokenContext {
  readonly refused: string | null;
}
export type TokenSource = string | ((context: TokenContext) => string | Promise<string>);

/** For one call. */
export interface CallOptions {
  /** Ends the call; what it says is thrown. */
  signal?: AbortSignal | undefined;
  /** The deadline of the call, retries included: 30 s unless said otherwise. Streams have none. */
  timeoutMs?: number | undefined;
  /** W3C Trace Context, passed on. */
  traceparent?: string | undefined;
  /** Of a POST: made by itself where it is left out. The same key and body is done once, however often it is sent. */
  idempotencyKey?: string | undefined;
}

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Request {
  readonly method: Method;
  /** From the root of the service, segments encoded. */
  readonly path: string;
  readonly query?: Query | undefined;
  readonly body?: string | undefined;
  readonly contentType?: string;
  readonly accept?: string;
  /** Sent again after a failure only where that does nothing twice. */
  readonly isRepeatable?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TransportOptions {
  baseUrl: string;
  token?: TokenSource | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  timeoutMs?: number | undefined;
  traceparent?: string | (() => string | undefined) | undefined;
}

/** @internal sends requests: token, deadline, retries, errors; knows nothing of what they are about */
export class Transport {
  private readonly base: string;
  private readonly fetch: typeof globalThis.fetch;
  private readonly options: TransportOptions;

  constructor(options: TransportOptions) {
    const { baseUrl, fetch = globalThis.fetch.bind(globalThis) } = options;
    this.base = new URL(baseUrl).href.replace(/\/+$/, '');
    this.fetch = fetch;
    this.options = options;
  }

  /** The text of a successful answer. @throws ApiError, ConnectionError, DeadlineError, or what `signal` says */
  async text(request: Request, options: CallOptions = {}): Promise<string> {
    return this.within(options, (signal, endsAt) =>
      this.repeated(request, options, { signal, endsAt }, async (response) => {
        const text = await textOf(response);
        if (response.ok) return text;
        throw failureOf(response.status, response.headers, text);
      }),
    );
  }

  /**
   * A successful answer whose body is read as it comes. It has to begin within the deadline; then it ends with `signal` alone.
   * One attempt beside a fresh token, since whoever reads knows from where to go on.
   */
  async stream(request: Request, { signal, ...options }: CallOptions): Promise<Response> {
    const { timeoutMs = this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS } = options;
    const deadline = new AbortController();
    const late = new ConnectionError(`No answer began within ${timeoutMs} ms.`);
    const timer = setTimeout(() => deadline.abort(late), timeoutMs);
    const either = signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]);
    try {
      return await this.begun(request, options, either);
    } finally {
      clearTimeout(timer);
    }
  }

  private async begun(request: Request, options: CallOptions, signal: AbortSignal): Promise<Response> {
    return this.withToken(request, options, signal, async (response) => {
      if (response.ok) return response;
      throw failureOf(response.status, response.headers, await textOf(response));
    });
  }

  /** Waits, unless the signal says otherwise. */
  async pause(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        end();
        reject(reasonOf(signal));
      };
      const timer = setTimeout(() => {
        end();
        resolve();
      }, ms);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  private async within<T>(options: CallOptions, work: (signal: AbortSignal, endsAt: number) => Promise<T>): Promise<T> {
    const { signal, timeoutMs = this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS } = options;
    signal?.throwIfAborted();
    const deadline = new AbortController();
    const late = new DeadlineError(`There is no answer within ${timeoutMs} ms.`);
    const timer = setTimeout(() => deadline.abort(late), timeoutMs);
    const forward = (): void => deadline.abort(reasonOf(signal));
    signal?.addEventListener('abort', forward, { once: true });
    try {
      return await work(deadline.signal, performance.now() + timeoutMs);
    } catch (error) {
      throw deadline.signal.aborted ? reasonOf(deadline.signal) : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', forward);
    }
  }

  private async repeated<T>(
    request: Request,
    options: CallOptions,
    { signal, endsAt }: { signal: AbortSignal; endsAt: number },
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const isPost = request.method === 'POST';
    // One key for all attempts.
    const idempotencyKey = isPost ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.withToken(request, { ...options, idempotencyKey }, signal, read);
      } catch (error) {
        const waitMs = signal.aborted || attempt >= MAX_ATTEMPTS ? null : waitBefore(error, attempt, request);
        // What would come too late is told at once, with what the service said.
        if (waitMs === null || performance.now() + waitMs > endsAt) throw error;
        await this.pause(waitMs, signal);
      }
    }
  }

  /** With a fresh token where the service refuses the one that there is. */
  private async withToken<T>(
    request: Request,
    options: CallOptions,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { token } = this.options;
    const first = typeof token === 'function' ? await token({ refused: null }) : (token ?? null);
    const response = await this.send(request, options, first, signal);
    if (response.status !== 401 || typeof token !== 'function' || first === null) return read(response);
    const fresh = await token({ refused: first });
    if (fresh === first) return read(response);
    await response.body?.cancel();
    return read(await this.send(request, options, fresh, signal));
  }

  private async send(
    request: Request,
    options: CallOptions,
    token: string | null,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const { method, path, query, body, contentType = 'application/json', accept = 'application/json' } = request;
    const traceparent = options.traceparent ?? traceparentOf(this.options.traceparent);
    const headers: Record<string, string> = { Accept: accept, ...request.headers };
    if (token !== null) headers['Authorization'] = `Bearer ${token}`;
    if (body !== undefined) headers['Content-Type'] = contentType;
    if (options.idempotencyKey !== undefined) headers['Idempotency-Key'] = options.idempotencyKey;
    if (traceparent !== undefined) headers['traceparent'] = traceparent;
    let response: Response;
    try {
      response = await this.fetch(this.base + path + queryText(query), {
        method,
        headers,
        // What is redirected is not what was asked, and a token belongs to one service.
        redirect: 'manual',
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (cause) {
      if (signal?.aborted === true) throw reasonOf(signal);
      throw new ConnectionError(`${method} ${path}: no answer came (${messageOf(cause)}).`, { cause });
    }
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      throw new ProtocolError(`${method} ${path}: redirected, which the service never does. Is baseUrl right?`);
    }
    return response;
  }
}

/** How long to wait before the next attempt; null: there is none. */
function waitBefore(error: unknown, attempt: number, { method, isRepeatable = true }: Request): number | null {
  const backoff = Math.random() * 200 * 2 ** attempt;
  if (error instanceof ApiError) {
    const isRunning = error.status === 409 && error.details.some(({ code }) => code === 'running');
    const isPassing = error.status === 429 || error.status === 503 || error.code === 'not_logged_yet' || isRunning;
    if (!isPassing) return null;
    return isRepeatable ? (error.retryAfterMs ?? backoff) : null;
  }
  return error instanceof ConnectionError && isRepeatable && (method === 'GET' || method === 'POST') ? backoff : null;
}

/** @throws ConnectionError where the answer breaks off, which platforms say in words of their own */
async function textOf(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    throw new ConnectionError(`The answer broke off (${messageOf(cause)}).`, { cause });
  }
}

export function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** A path of the API, its segments encoded. */
export function pathOf(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

function traceparentOf(source: TransportOptions['traceparent']): string | undefined {
  return typeof source === 'function' ? source() : source;
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new ConnectionError('The call was ended.', { cause: reason });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
