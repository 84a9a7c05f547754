import { lineWriter, type Logger } from '@iss/platform';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Histogram } from 'prom-client';
import { traceFields } from '../request/request-id';

/** Has a request logged and timed when its answer is out. */
export type Watch = (request: Request, response: Response) => void;

/** One line a request, and its duration as a metric. Query strings stay out: cursors and filters are the caller's. */
export function accessLog(logger: Logger, durations: Histogram): Watch {
  const write = lineWriter(logger, 'info', 'request');
  return (request, response) => {
    const startedAt = performance.now();
    response.on('finish', () => {
      const durationMs = performance.now() - startedAt;
      const { method } = request;
      const { statusCode: status } = response;
      const route: unknown = request.route;
      const pattern = typeof route === 'object' && route !== null && 'path' in route ? String(route.path) : 'none';
      durations.observe({ method, route: pattern, status }, durationMs / 1_000);
      write({
        ...traceFields(request),
        method,
        path: pathOf(request.originalUrl),
        status,
        duration_ms: Math.round(durationMs * 1_000) / 1_000,
      });
    });
  };
}

/** {@link accessLog} for Express. */
export function accessLogMiddleware(watch: Watch): RequestHandler {
  return (request: Request, response: Response, next: NextFunction): void => {
    watch(request, response);
    next();
  };
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}
