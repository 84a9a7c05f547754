import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span as ApiSpan,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer as ApiTracer,
} from '@opentelemetry/api';
import { type IdGenerator, RandomIdGenerator } from '@opentelemetry/sdk-trace';
import type { Span, SpanStart, Tracer } from '../telemetry';

/** Generates random ids, except for traces with a given id. */
export class TraceIds implements IdGenerator {
  private readonly random = new RandomIdGenerator();
  private next: string | undefined;

  generateSpanId(): string {
    return this.random.generateSpanId();
  }

  generateTraceId(): string {
    return this.next ?? this.random.generateTraceId();
  }

  /** Uses this id for traces that begin in `work`. */
  with<T>(traceId: string | undefined, work: () => T): T {
    this.next = traceId;
    try {
      return work();
    } finally {
      this.next = undefined;
    }
  }
}

/** The spans that work is done for, and the number of requests, including unsampled ones. */
interface Carried {
  spans: readonly ApiSpan[];
  requests: number;
}

const NOTHING: Carried = { spans: [], requests: 0 };
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const;
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

class OpenSpan implements Span {
  readonly traceparent: string;

  constructor(readonly inner: ApiSpan) {
    const { traceId, spanId, traceFlags } = inner.spanContext();
    this.traceparent = `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
  }

  end({ name, attributes, error }: Parameters<Span['end']>[0] = {}): void {
    if (name !== undefined) this.inner.updateName(name);
    if (attributes !== undefined) this.inner.setAttributes(attributes);
    if (error !== undefined) fail(this.inner, error);
    this.inner.end();
  }
}

/**
 * Creates spans with OpenTelemetry's tracer. The current span is stored in Node's asynchronous context. A queue of our
 * own runs its pieces in the context of another request. Therefore queues note each piece's context and restore it.
 */
export class SpanTracer implements Tracer {
  private readonly running = new AsyncLocalStorage<Carried>();
  private readonly noted = new WeakMap<object, Carried>();

  constructor(
    private readonly tracer: ApiTracer,
    private readonly ids: TraceIds,
  ) {}

  begin({ name, kind, parent, traceId, attributes }: SpanStart): OpenSpan {
    const from = contextOf(parent);
    const start = (): ApiSpan => this.tracer.startSpan(name, { kind: KINDS[kind], attributes }, from);
    return new OpenSpan(this.ids.with(traceId, start));
  }

  within<T>(span: Span, work: () => T): T {
    return this.running.run({ spans: span instanceof OpenSpan ? [span.inner] : [], requests: 1 }, work);
  }

  bound<T>(work: () => T): () => T {
    return AsyncLocalStorage.bind(work);
  }

  note(piece: object): void {
    const { spans } = this.running.getStore() ?? NOTHING;
    this.noted.set(piece, { spans, requests: 1 });
  }

  carrying<T>(pieces: readonly object[], work: () => T): T {
    const spans = pieces.flatMap((piece) => this.noted.get(piece)?.spans ?? []);
    return this.running.run({ spans: [...new Set(spans)], requests: pieces.length }, work);
  }

  /**
   * Traces a statement that several requests may share. It is a span in the first request's trace with links to the
   * spans of the others. Every other trace gets a span with the same name and time that links to it. So each trace
   * shows the wait, and the work is counted only once.
   */
  async statement<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { spans, requests } = this.running.getStore() ?? NOTHING;
    // Leaves out spans that have ended or are not sampled.
    const [first, ...others] = spans.filter((span) => span.isRecording());
    if (first === undefined) return work();
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name };
    const batch = requests > 1 ? { 'db.operation.batch.size': requests } : {};
    const links = others.map((span) => ({ context: span.spanContext() }));
    const span = this.tracer.startSpan(
      name,
      { kind: SpanKind.CLIENT, attributes: { ...attributes, ...batch }, links },
      partOf(first),
    );
    const shown = others.map((other) =>
      this.tracer.startSpan(
        name,
        { kind: SpanKind.INTERNAL, attributes: { 'db.query.summary': name }, links: [{ context: span.spanContext() }] },
        partOf(other),
      ),
    );
    try {
      return await work();
    } catch (error) {
      const code: unknown = Reflect.get(Object(error), 'code');
      if (typeof code === 'string') span.setAttribute('db.response.status_code', code);
      for (const each of [span, ...shown]) fail(each, typeof code === 'string' ? code : 'error');
      throw error;
    } finally {
      for (const each of [span, ...shown]) each.end();
    }
  }
}

function fail(span: ApiSpan, error: string): void {
  span.setAttribute('error.type', error);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function partOf(span: ApiSpan): Context {
  return trace.setSpan(ROOT_CONTEXT, span);
}

/** Returns the context of the caller's span, or the root context if it is missing or invalid. */
function contextOf(traceparent: string | null): Context {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  const context = { traceId, spanId, traceFlags: parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return isSpanContextValid(context) ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}
