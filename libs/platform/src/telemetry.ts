import type { Registry } from 'prom-client';
import type { Warn } from './logger';

/** Attributes of a span, named by OpenTelemetry's semantic conventions, or by us with the prefix `iss.`. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** A piece of work with a beginning and an end, as part of a trace. */
export interface Span {
  /** The W3C Trace Context that is passed to work which this span causes elsewhere. */
  readonly traceparent: string;
  /** Call it once. `error` is one of a few words for the kind of failure; absent on success. */
  end(outcome?: { name?: string; attributes?: SpanAttributes; error?: string }): void;
}

/** The properties of a new span. */
export interface SpanStart {
  /** One of a few names, without ids and values. */
  name: string;
  kind: 'server' | 'client' | 'consumer';
  /** The `traceparent` of the cause; null begins a trace. */
  parent: string | null;
  /** 32 hexadecimal digits for a trace that begins here; random if absent. */
  traceId?: string;
  attributes: SpanAttributes;
}

/** Creates spans while telemetry is on. */
export interface Tracer {
  begin(start: SpanStart): Span;
  /** Runs the work as part of the span. */
  within<T>(span: Span, work: () => T): T;
  /** Binds the function to the current context, from any later caller. */
  bound<T>(work: () => T): () => T;
  /** Records the current context as that of this piece of work. */
  note(piece: object): void;
  /** Runs the work in the contexts of all these pieces. */
  carrying<T>(pieces: readonly object[], work: () => T): T;
  /** Runs a statement as a span of the current contexts; without a span if there is none. */
  statement<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Null unless telemetry is on. Callers check this, so that disabled telemetry costs almost nothing and OpenTelemetry is
 * not loaded (docs/decisions/0034-opentelemetry.md).
 */
export const telemetry: { tracer: Tracer | null } = { tracer: null };

/** How an app sends traces and metrics (variables `OTEL_…`). */
export interface TelemetrySettings {
  /** Base URL of an OTLP receiver over HTTP. */
  endpoint: string;
  /** Headers of each request to it: `name=value,…`, percent-encoded. Secret. */
  headers: string | undefined;
  traces: boolean;
  metrics: boolean;
  sampler: SamplerName;
  /** The share of traces that the samplers by ratio record. */
  samplerRatio: number;
  /** The maximum number of spans that wait to be sent; more are dropped. */
  queuedSpans: number;
  /** How long a span waits for others, to be sent with them. */
  spanDelayMs: number;
  metricIntervalMs: number;
}

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

export interface TelemetryOptions {
  /** Null if telemetry is off. */
  settings: TelemetrySettings | null;
  /** `service.name`, unless the environment sets another. */
  serviceName: string;
  version: string | undefined;
  /** The registry whose metrics are sent. */
  registry: Registry;
  /** Called at most once a minute while nothing can be sent. */
  warn: Warn;
  /** The time for sending the rest when the process ends. */
  flushMs: number;
}
