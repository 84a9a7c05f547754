import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Histogram } from 'prom-client';
import type { Logger } from 'pino';
import { traceFields } from './request-id';

/** One line a request, and its duration as a metric. Query strings stay out: cursors and filters are the caller's. */
export function accessLog(logger: Logger, durations: Histogram): RequestHandler {
  // These lines have fixed members, none of them secret: looking for secrets in each costs more than writing it.
  const lines = logger.child({}, { redact: [] });
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    response.on('finish', () => {
      const durationMs = performance.now() - startedAt;
      const route: unknown = request.route;
      const path = typeof route === 'object' && route !== null && 'path' in route ? String(route.path) : 'none';
      durations.observe({ method: request.method, route: path, status: response.statusCode }, durationMs / 1_000);
      lines.info({
        msg: 'request',
        ...traceFields(request),
        method: request.method,
        path: request.path,
        status: response.statusCode,
        duration_ms: Math.round(durationMs * 1_000) / 1_000,
      });
    });
    next();
  };
}
