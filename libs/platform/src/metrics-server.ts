import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { portTaken } from './process/boot';
import { EnvError } from './env/env';

/** Prometheus sends one short request and reads the response immediately. */
const LIMITS = { headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 65_000 };
/** A connection without any traffic for this long is closed, even in the middle of a response. */
const SILENT_MS = 30_000;
const MAX_CONNECTIONS = 100;

export interface MetricsServer {
  /** The requested port, or the one that the system chose for 0. */
  port: number;
  close(): Promise<void>;
}

/**
 * Serves the registry as Prometheus text at `/metrics` on a separate port: a scrape takes milliseconds of processor
 * time, and the metrics are for the operator. Concurrent scrapes share one reading.
 *
 * @throws EnvError if the port is taken
 */
export async function startMetricsServer(
  registry: Registry,
  { metricsPort, host }: { metricsPort: number; host: string | undefined },
): Promise<MetricsServer> {
  let reading: Promise<string> | undefined;
  const read = (): Promise<string> => (reading ??= registry.metrics().finally(() => (reading = undefined)));

  const server = createServer(LIMITS, (request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') return response.writeHead(404).end();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    }
    read().then(
      (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
    return response;
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.timeout = SILENT_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(metricsPort, host, resolve);
  }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new EnvError([portTaken('METRICS_PORT')]) : error;
  });
  return {
    port: boundPort(server.address()),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function boundPort(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('The metrics server has no port');
  return address.port;
}
