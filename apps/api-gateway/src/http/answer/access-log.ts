import { DURATION_BUCKETS_SECONDS, lineWriter, type Logger, LOGGER } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Histogram, Registry } from 'prom-client';
import { PROBES } from '../limits/anonymous-requests';
import { ClientAddresses } from '../request/client-address';
import { traceFields } from '../request/request-id';

/** Methods with a time series of their own. All other methods that Node knows share one. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Writes one log line per request and measures its duration. A successful probe is logged at `debug`. Query strings are
 * not logged, because they contain the caller's cursors and filters.
 */
@Injectable()
export class AccessLog {
  private readonly write: ReturnType<typeof lineWriter>;
  private readonly writeProbe: ReturnType<typeof lineWriter>;
  private readonly durations: Histogram;

  constructor(
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
    private readonly addresses: ClientAddresses,
  ) {
    this.write = lineWriter(logger, 'info', 'request');
    this.writeProbe = lineWriter(logger, 'debug', 'request');
    this.durations = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the start of a request to the end of its response',
      labelNames: ['method', 'route', 'status'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers: [metrics],
    });
  }

  /** Logs and measures a request when its response is sent. */
  watch(request: Request, response: Response): void {
    const startedAt = performance.now();
    response.on('finish', () => this.record(request, response, performance.now() - startedAt));
  }

  /** {@link watch} for Express. */
  readonly middleware = (request: Request, response: Response, next: NextFunction): void => {
    this.watch(request, response);
    next();
  };

  private record(request: Request, { statusCode: status }: Response, durationMs: number): void {
    const { method } = request;
    const pattern = matchedRoute(request) ?? 'none';
    const counted = METHODS.has(method) ? method : 'other';
    this.durations.observe({ method: counted, route: pattern, status }, durationMs / 1_000);
    const path = pathOf(request.originalUrl);
    const write = status < 400 && PROBES.includes(path) ? this.writeProbe : this.write;
    // Undefined if the request matched no route.
    const params: Partial<Request['params']> | undefined = request.params;
    const tenantId = params?.['tenant_id'];
    write({
      ...traceFields(request),
      principal_id: request.principal?.principalId ?? null,
      tenant_id: typeof tenantId === 'string' ? tenantId : null,
      client: this.addresses.of(request),
      method,
      path,
      status,
      duration_ms: Math.round(durationMs * 1_000) / 1_000,
    });
  }
}

/** Returns the pattern of the matched route, for example `/v1/tenants/:tenant_id`. */
export function matchedRoute(request: Request): string | undefined {
  const route: unknown = request.route;
  return typeof route === 'object' && route !== null && 'path' in route ? String(route.path) : undefined;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}
