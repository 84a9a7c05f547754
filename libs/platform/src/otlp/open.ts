import { diag, DiagLogLevel } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { randomUUID } from 'node:crypto';
import { rarely } from '../rarely';
import { type SamplerName, telemetry, type TelemetryOptions, type TelemetrySettings } from '../telemetry';
import { within } from '../within';
import { RegistryFigures } from './figures';
import { SpanTracer, TraceIds } from './tracer';

const WARN_EVERY_MS = 60_000;
/** A batch that is not accepted within this time is dropped, and the next one is sent. */
const EXPORT_MS = 10_000;
/** Batches in flight. Further spans wait in the limited queue. */
const EXPORTS_AT_ONCE = 2;

/** Starts to send spans and metrics by OTLP over HTTP. Returns a function that sends the rest and stops. */
export async function openTelemetry(
  settings: TelemetrySettings,
  { serviceName, version, registry, warn, flushMs }: Omit<TelemetryOptions, 'settings'>,
): Promise<() => Promise<void>> {
  const tell = rarely(warn, WARN_EVERY_MS);
  const notTaken = (failure?: unknown): void => tell('Telemetry cannot be sent and is dropped', failure);
  setGlobalErrorHandler(notTaken);
  // OpenTelemetry's own messages may contain header values, so they are not repeated.
  const silent = (): void => undefined;
  const warnOf = (message: string): void => {
    if (message.startsWith('Dropped')) tell('Spans were dropped: too many wait to be sent');
  };
  diag.setLogger(
    { error: () => notTaken(), warn: warnOf, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': serviceName,
        'service.instance.id': randomUUID(),
        ...(version !== undefined && { 'service.version': version }),
      }),
    )
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
  const exporterTo = (path: string, timeoutMillis: number) => ({
    url: `${settings.endpoint.replace(/\/+$/, '')}/${path}`,
    headers: headersOf(settings.headers),
    timeoutMillis,
    concurrencyLimit: EXPORTS_AT_ONCE,
  });
  const ends: (() => Promise<void>)[] = [];

  if (settings.traces) {
    const idGenerator = new TraceIds();
    const provider = new TracerProvider({
      resource,
      idGenerator,
      sampler: samplerOf(settings.sampler, settings.samplerRatio),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: new OTLPTraceExporter(exporterTo('v1/traces', EXPORT_MS)),
          maxQueueSize: settings.queuedSpans,
          scheduledDelayMillis: settings.spanDelayMs,
          exportTimeoutMillis: EXPORT_MS,
        }),
      ],
    });
    telemetry.tracer = new SpanTracer(provider.getTracer('identity-state-service'), idGenerator);
    ends.push(() => provider.shutdown());
  }
  if (settings.metrics) {
    const timeoutMs = Math.min(EXPORT_MS, settings.metricIntervalMs);
    const reader = new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter(exporterTo('v1/metrics', timeoutMs)),
      exportIntervalMillis: settings.metricIntervalMs,
      exportTimeoutMillis: timeoutMs,
      metricProducers: [new RegistryFigures(registry)],
    });
    const provider = new MeterProvider({ resource, readers: [reader] });
    ends.push(() => provider.shutdown());
  }
  return async () => {
    telemetry.tracer = null;
    const ending = Promise.all(ends.map((end) => end()));
    await within(flushMs, ending, 'Sending the rest').catch((error: unknown) =>
      tell('Some telemetry was not sent', error),
    );
  };
}

function samplerOf(name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

/** Parses `name=value,…`, percent-encoded. */
function headersOf(text: string | undefined): Record<string, string> {
  const pairs = (text ?? '').split(',').map((pair) => pair.trim());
  return Object.fromEntries(
    pairs
      .filter((pair) => pair.includes('='))
      .map((pair) => {
        const at = pair.indexOf('=');
        return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
      }),
  );
}
