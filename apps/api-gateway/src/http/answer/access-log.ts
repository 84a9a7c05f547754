import { DURATION_BUCKETS_SECONDS, lineWriter, type Logger, LOGGER } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Histogram, Registry } from 'prom-client';
import { PROBES } from '../limits/anonymous-requests';
import { ClientAddresses } from '../request/client-address';
import { traceFields } from '../request/request-id';

/** A series for each, and one for all others that Node knows. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** One line a request, of a probe that went well at `debug`, and its duration as a metric. Query strings stay out: cursors and filters are the caller's. */
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

  /** Has a request logged and timed when its answer is out. */
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
    const pattern = routeOf(request) ?? 'none';
    const counted = METHODS.has(method) ? method : 'other';
    this.durations.observe({ method: counted, route: pattern, status }, durationMs / 1_000);
    const path = pathOf(request.originalUrl);
    const write = status < 400 && PROBES.includes(path) ? this.writeProbe : this.write;
    // Of a request that found no route there are none.
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

/** The pattern of the route that a request found, as `/v1/tenants/:tenant_id`. */
export function routeOf(request: Request): string | undefined {
  const route: unknown = request.route;
  return typeof route === 'object' && route !== null && 'path' in route ? String(route.path) : undefined;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}
