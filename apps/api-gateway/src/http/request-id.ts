import { randomUUID } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** Names this request in headers, errors, logs, audit and events. */
    requestId: string;
  }
}

const SANE = /^[A-Za-z0-9._:+/=-]{1,128}$/;

/** Takes the caller's `X-Request-Id` when it is a sane token, else makes one; the answer carries it in either case. */
export function requestIdMiddleware(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id'];
  request.requestId = typeof given === 'string' && SANE.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', request.requestId);
  next();
}

/** What the caller said to tie this request to others: our request id, and its own `X-Correlation-Id` when sane. */
export interface RequestTrace {
  requestId: string;
  correlationId: string | undefined;
}

/** Injects the {@link RequestTrace} of the current request. */
export const Trace = createParamDecorator((_: unknown, context: ExecutionContext): RequestTrace => {
  const request = context.switchToHttp().getRequest<Request>();
  const given = request.headers['x-correlation-id'];
  const correlationId = typeof given === 'string' && SANE.test(given) ? given : undefined;
  return { requestId: request.requestId, correlationId };
});
