import type { TelemetryOptions } from './telemetry';

/** Begins to send traces and figures, where that is on. The function that it gives sends what is left and ends it. */
export async function startTelemetry({ settings, ...options }: TelemetryOptions): Promise<() => Promise<void>> {
  if (settings === null) return async () => undefined;
  const { openTelemetry } = await import('./otlp/open.js');
  return openTelemetry(settings, options);
}
