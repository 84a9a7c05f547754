import { randomUUID } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** Names this request in headers, errors, logs, audit and events. */
    requestId: string;
    /** Our part of the caller's distributed trace, or of a new one (W3C Trace Context, version 00). */
    traceparent: string;
  }
}

const SANE = /^[A-Za-z0-9._:+/=-]{1,128}$/;
/** W3C Trace Context, 3.2: ids of zeros only are invalid. Several headers arrive joined by commas, hence invalid too. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;
const SAMPLED = 0x01;

/**
 * Takes the caller's `X-Request-Id` when it is a sane token, else makes one; the answer carries it in either case. Takes
 * the trace of its `traceparent` when that is valid, else starts one; what is done here gets a span id of its own.
 */
export function requestIdMiddleware(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id'];
  request.requestId = typeof given === 'string' && SANE.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', request.requestId);
  request.traceparent = continueTrace(request.headers['traceparent']);
  next();
}

/** The `traceparent` of our part: the caller's trace and its decision on sampling, under a new span id. */
export function continueTrace(given: string | string[] | undefined): string {
  const [, traceId, flags] = (typeof given === 'string' ? TRACEPARENT.exec(given) : null) ?? [];
  if (traceId === undefined || flags === undefined) return `00-${randomHex(32)}-${randomHex(16)}-01`;
  return `00-${traceId}-${randomHex(16)}-0${parseInt(flags, 16) & SAMPLED}`;
}

/** Up to 32 digits, never all zero. From a UUID, since Node keeps random bytes ready for these. */
function randomHex(digits: number): string {
  return randomUUID().replaceAll('-', '').slice(-digits);
}

/** The members by which log lines of a request are found. */
export function traceFields(request: Request): { request_id: string; trace_id: string; span_id: string } {
  const [, traceId = '', spanId = ''] = request.traceparent.split('-');
  return { request_id: request.requestId, trace_id: traceId, span_id: spanId };
}

/** What ties this request to others: our request id, the caller's own `X-Correlation-Id` when sane, and the trace. */
export interface RequestTrace {
  requestId: string;
  correlationId: string | undefined;
  /** W3C Trace Context: hand it on with whatever this request causes. */
  traceparent: string;
}

/** The trace of a request that {@link requestIdMiddleware} has seen. */
export function traceOf(request: Request): RequestTrace {
  const given = request.headers['x-correlation-id'];
  const correlationId = typeof given === 'string' && SANE.test(given) ? given : undefined;
  return { requestId: request.requestId, correlationId, traceparent: request.traceparent };
}

/** Injects the {@link RequestTrace} of the current request. */
export const Trace = createParamDecorator((_: unknown, context: ExecutionContext): RequestTrace =>
  traceOf(context.switchToHttp().getRequest<Request>()),
);
