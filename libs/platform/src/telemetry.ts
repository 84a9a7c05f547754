import type { Registry } from 'prom-client';
import type { Warn } from './logger';

/** Of what a span tells: names of the semantic conventions of OpenTelemetry, or of our own beginning with `iss.`. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** What is done in one place and has a beginning and an end, as a part of a trace. */
export interface Span {
  /** W3C Trace Context: what this work causes elsewhere goes on from here. */
  readonly traceparent: string;
  /** To be called once. `error`: in what way it failed, one of few words; absent where it did not. */
  end(outcome?: { name?: string; attributes?: SpanAttributes; error?: string }): void;
}

/** What a span is when it begins. */
export interface SpanStart {
  /** One of few: no ids, no values. */
  name: string;
  kind: 'server' | 'client' | 'consumer';
  /** `traceparent` of what caused it; null begins a trace. */
  parent: string | null;
  /** 32 hexadecimal digits, of a trace that begins here; absent: at random. */
  traceId?: string;
  attributes: SpanAttributes;
}

/** Makes spans while telemetry is on. */
export interface Tracer {
  begin(start: SpanStart): Span;
  /** Runs the work as part of the span. */
  within<T>(span: Span, work: () => T): T;
  /** The same function as part of what runs now, whoever calls it later. */
  bound<T>(work: () => T): () => T;
  /** Remembers what runs now as that for which this piece is done. */
  note(piece: object): void;
  /** Runs the work as part of everything for which these pieces are done. */
  carrying<T>(pieces: readonly object[], work: () => T): T;
  /** Runs a statement as a span of all that runs now; without a span where nothing does. */
  statement<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Null unless telemetry is on, which is all that it costs while it is off: whoever makes spans looks here, and nothing of
 * OpenTelemetry is loaded (docs/decisions/0034-opentelemetry.md).
 */
export const telemetry: { tracer: Tracer | null } = { tracer: null };

/** How an app's traces and figures are sent, variables `OTEL_…`. */
export interface TelemetrySettings {
  /** Base URL of a receiver of OTLP over HTTP. */
  endpoint: string;
  /** `name=value,…`, percent-encoded, of each request to it. Secret. */
  headers: string | undefined;
  traces: boolean;
  metrics: boolean;
  sampler: SamplerName;
  /** Of the samplers by ratio. */
  samplerRatio: number;
  /** Spans that wait to be sent at most; more are dropped. */
  queuedSpans: number;
  /** A span waits for so long for others to be sent with it. */
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
  /** Null: off. */
  settings: TelemetrySettings | null;
  /** `service.name`, unless the environment gives another. */
  serviceName: string;
  version: string | undefined;
  /** Whose figures are sent. */
  registry: Registry;
  /** Told, at most once a minute, that nothing gets through. */
  warn: Warn;
  /** For what is left when the process ends. */
  flushMs: number;
}
