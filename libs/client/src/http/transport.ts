import { ApiError, ConfigurationError, ConnectionError, DeadlineError, ProtocolError } from '../errors.ts';
import { DEFAULT_TIMEOUT_MS, MAX_ANSWER_BYTES, MAX_ATTEMPTS } from '../limits.ts';
import { reasonOf, reasonText, unlessAborted } from './abort.ts';
import { failureOf } from './answer.ts';
import { linesOf, textOf } from './lines.ts';
import { notOfThisApi } from './shape.ts';

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
  /** Hears of each answer, also of one that is an error: a failed call may have several. */
  onResponse?: ((response: { readonly status: number; readonly requestId: string | null }) => void) | undefined;
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
  /** Attempts of one call, 5 by default. 1 never repeats. */
  maxAttempts?: number | undefined;
  /** The most bytes of an answer, and of a line or an event of a stream. The default is 64 MiB. */
  maxAnswerBytes?: number | undefined;
  traceparent?: string | (() => string | undefined) | undefined;
  onResponse?: CallOptions['onResponse'];
}

/** Reads an answer; the token is what was sent with its request. */
type Reading<T> = (response: Response, token: string | null) => Promise<T>;

/** @internal sends requests: token, deadline, retries, errors; knows nothing of what they are about */
export class Transport {
  private readonly base: string;
  private readonly fetch: typeof globalThis.fetch;
  private readonly options: TransportOptions;
  /** Attempts of one call. */
  readonly maxAttempts: number;
  /** The most bytes of an answer, of a line or an event of a stream. */
  readonly maxBytes: number;

  /** @throws ConfigurationError */
  constructor(options: TransportOptions) {
    const { baseUrl, fetch = globalThis.fetch.bind(globalThis) } = options;
    this.base = baseOf(baseUrl);
    this.fetch = fetch;
    this.options = options;
    this.maxAttempts = options.maxAttempts ?? MAX_ATTEMPTS;
    this.maxBytes = options.maxAnswerBytes ?? MAX_ANSWER_BYTES;
  }

  /** The text of a successful answer. @throws ApiError, ConnectionError, DeadlineError, or what `signal` says */
  async text(request: Request, options: CallOptions = {}): Promise<string> {
    return this.#within(options, DeadlineError, (signal, endsAt) =>
      this.#repeated(request, options, { signal, endsAt }, (response, token) => this.#textOf(response, token, signal)),
    );
  }

  /**
   * The lines of a successful answer as they come. It has to begin within the deadline; then it ends with `signal` alone.
   * One attempt beside a fresh token, since whoever reads knows from where to go on.
   */
  async *lines(
    request: Request,
    options: CallOptions,
    idleMs?: number,
    onConnected?: (isConnected: boolean) => void,
  ): AsyncGenerator<string, void, undefined> {
    const response = await this.#stream(request, options);
    onConnected?.(true);
    yield* linesOf(response, { maxBytes: this.maxBytes, idleMs, signal: options.signal });
  }

  async #stream(request: Request, options: CallOptions): Promise<Response> {
    const read = (signal: AbortSignal): Promise<Response> =>
      this.#withToken(request, options, signal, async (response, token) => {
        if (!response.ok) await this.#textOf(response, token, signal);
        return response;
      });
    // Whoever reads a stream begins it again.
    return this.#within(options, ConnectionError, read);
  }

  /** @throws ApiError for the text of an error answer */
  async #textOf(response: Response, token: string | null, signal: AbortSignal): Promise<string> {
    const text = await textOf(response, { maxBytes: this.maxBytes, signal });
    if (response.ok) return text;
    throw failureOf(response.status, response.headers, withoutToken(text, token));
  }

  /** Waits, unless the signal says otherwise. */
  async pause(ms: number, signal?: AbortSignal): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
    try {
      await unlessAborted(over, signal);
    } finally {
      clearTimeout(timer);
    }
  }

  async #within<T>(
    options: CallOptions,
    Late: typeof DeadlineError,
    work: (signal: AbortSignal, endsAt: number) => Promise<T>,
  ): Promise<T> {
    const { signal, timeoutMs = this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS } = options;
    signal?.throwIfAborted();
    const deadline = new AbortController();
    const late = new Late(`Nothing came for ${timeoutMs} ms.`);
    const timer = setTimeout(() => deadline.abort(late), timeoutMs);
    const either = signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]);
    try {
      return await work(either, performance.now() + timeoutMs);
    } catch (error) {
      throw either.aborted ? reasonOf(either) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #repeated<T>(
    request: Request,
    options: CallOptions,
    { signal, endsAt }: { signal: AbortSignal; endsAt: number },
    read: Reading<T>,
  ): Promise<T> {
    const isPost = request.method === 'POST';
    // One key for all attempts.
    const idempotencyKey = isPost ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#withToken(request, { ...options, idempotencyKey }, signal, read);
      } catch (error) {
        const waitMs = signal.aborted || attempt >= this.maxAttempts ? null : waitBefore(error, attempt, request);
        // What would come too late is told at once, with what the service said.
        if (waitMs === null || performance.now() + waitMs > endsAt) throw error;
        await this.pause(waitMs, signal);
      }
    }
  }

  /** With a fresh token where the service refuses the one that there is. */
  async #withToken<T>(request: Request, options: CallOptions, signal: AbortSignal, read: Reading<T>): Promise<T> {
    const { token } = this.options;
    const given = typeof token === 'function' ? await token({ refused: null }) : token;
    const first = given === undefined ? null : sendable(given);
    const response = await this.#send(request, options, first, signal);
    if (response.status !== 401 || typeof token !== 'function' || first === null) return read(response, first);
    const fresh = sendable(await token({ refused: first }));
    if (fresh === first) return read(response, first);
    response.body?.cancel().catch(() => undefined);
    return read(await this.#send(request, options, fresh, signal), fresh);
  }

  async #send(request: Request, options: CallOptions, token: string | null, signal: AbortSignal): Promise<Response> {
    const { method, path, query, body, contentType = 'application/json', accept = 'application/json' } = request;
    const traceparent = options.traceparent ?? traceparentOf(this.options.traceparent);
    const headers: Record<string, string> = { Accept: accept, ...request.headers };
    if (token !== null) headers['Authorization'] = `Bearer ${token}`;
    if (body !== undefined) headers['Content-Type'] = contentType;
    if (options.idempotencyKey !== undefined) headers['Idempotency-Key'] = options.idempotencyKey;
    if (traceparent !== undefined) headers['traceparent'] = traceparent;
    // A path without its slash would change the host: `.evil.example`, `@evil.example`.
    if (!path.startsWith('/')) {
      throw new ProtocolError(`${path} must start with /.`);
    }
    let response: Response;
    try {
      const answer = this.fetch(this.base + path + queryText(query), {
        method,
        headers,
        // What is redirected is not what was asked, and a token belongs to one service.
        redirect: 'manual',
        ...(body === undefined ? {} : { body }),
        signal,
      });
      response = await unlessAborted(answer, signal);
    } catch (cause) {
      if (signal.aborted) throw reasonOf(signal);
      const reason = withoutToken(reasonText(cause), token);
      throw new ConnectionError(`${method} ${path}: no answer came (${reason}).`, { cause });
    }
    const { status, headers: answered } = response;
    const { onResponse = this.options.onResponse } = options;
    onResponse?.({ status, requestId: answered.get('x-request-id') });
    if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
      throw notOfThisApi(`${method} ${path}, which redirects`);
    }
    return response;
  }
}

/** Whether what broke a stream may be otherwise the next time. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError ? error.status === 429 || error.status >= 500 : error instanceof ConnectionError;
}

/** How long to wait before the next attempt; null: there is none. */
function waitBefore(error: unknown, attempt: number, { method, isRepeatable = true }: Request): number | null {
  const backoff = Math.random() * 200 * 2 ** attempt;
  // A POST carries its key.
  const isSafe = method === 'GET' || method === 'POST';
  if (error instanceof ApiError) {
    const isRunning = error.status === 409 && error.details.some(({ code }) => code === 'running');
    const isPassing = error.status === 429 || error.status === 503 || error.code === 'not_logged_yet' || isRunning;
    // A gateway that had no answer does not know whether it was done.
    const isUnknown = (error.status === 502 || error.status === 504) && isSafe;
    return isRepeatable && (isPassing || isUnknown) ? (error.retryAfterMs ?? backoff) : null;
  }
  return error instanceof ConnectionError && isRepeatable && isSafe ? backoff : null;
}

/** The address of the service, without a slash at its end. @throws ConfigurationError, which does not name it: it may hold a secret */
function baseOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || /[@?#]/.test(baseUrl)) {
    throw new ConfigurationError('baseUrl is an http(s) URL, without credentials.');
  }
  return url.href.replace(/\/+$/, '');
}

/** A token as a header carries it. @throws ConfigurationError, since platforms would name it in their errors */
function sendable(token: string): string {
  const text = String(token).trim();
  if (/^[\x21-\x7e]*$/.test(text)) return text;
  throw new ConfigurationError('The token fits no header.');
}

/** What others said, without the token: they may repeat it. A short token is not removed. */
function withoutToken(text: string, token: string | null): string {
  return token === null || token.length < 8 ? text : text.replaceAll(token, '…');
}

export function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text && `?${text}`;
}

/** A path of the API, its segments encoded. */
export function pathOf(...segments: readonly (string | number)[]): string {
  const step = segments.find((segment) => segment === '.' || segment === '..');
  if (step !== undefined) throw new ConfigurationError(`"${step}" is no id.`);
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

function traceparentOf(source: TransportOptions['traceparent']): string | undefined {
  return typeof source === 'function' ? source() : source;
}
