import type { TelemetryOptions } from './telemetry';

/** Starts to send traces and metrics if this is enabled. Returns a function that sends the rest and stops. */
export async function startTelemetry({ settings, ...options }: TelemetryOptions): Promise<() => Promise<void>> {
  if (settings === null) return async () => undefined;
  const { openTelemetry } = await import('./otlp/open.js');
  return openTelemetry(settings, options);
}
