import type { RequestTrace } from '../../request-trace';
import type { Span } from '@iss/platform';
import { randomFillSync, randomUUID } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** Identifies this request in headers, errors, logs, audit records and events. */
    requestId: string;
    /** Our part of the caller's distributed trace, or of a new trace (W3C Trace Context, version 00). */
    traceparent: string;
    /** Set while telemetry is on. */
    span?: Span;
  }
}

const SANE = /^[A-Za-z0-9._:+/=-]{1,128}$/;
/**
 * W3C Trace Context, 3.2: ids of only zeros are invalid. Several headers arrive joined by commas, so they are invalid
 * too.
 */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;
const SAMPLED = 0x01;

/**
 * Sets the request's id and trace. Uses the caller's `X-Request-Id` if it is a valid token, or else a new UUID.
 * Continues the trace of a valid `traceparent`, or else starts one. Our part gets its own span id.
 */
export function identify(request: Request): void {
  const given = request.headers['x-request-id'];
  request.requestId = typeof given === 'string' && SANE.test(given) ? given : randomUUID();
  request.traceparent = request.span?.traceparent ?? continueTrace(request.headers['traceparent']);
}

/** Returns the caller's `traceparent` if it is valid, or else null. */
export function callersTrace({ headers }: Pick<Request, 'headers'>): string | null {
  const given = headers['traceparent'];
  return typeof given === 'string' && TRACEPARENT.test(given) ? given : null;
}

export function requestIdMiddleware(request: Request, _response: Response, next: NextFunction): void {
  identify(request);
  next();
}

/** Returns the `traceparent` of our part: the caller's trace and its sampling decision, with a new span id. */
export function continueTrace(given: string | string[] | undefined): string {
  const [, traceId, flags] = (typeof given === 'string' ? TRACEPARENT.exec(given) : null) ?? [];
  const random = randomHex();
  const spanId = random.slice(0, 16);
  if (traceId === undefined || flags === undefined) return `00-${random.slice(16)}-${spanId}-01`;
  return `00-${traceId}-${spanId}-0${parseInt(flags, 16) & SAMPLED}`;
}

/** Enough for a span id and a trace id. */
const RANDOM_BYTES = 8 + 16;
/** Filled for many requests in one call, because a call takes as long for one. */
const pool = Buffer.alloc(RANDOM_BYTES * 128);
let used = pool.length;

/** Returns 48 digits. An id of only zeros, which would be invalid, is as unlikely as two equal ids. */
function randomHex(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += RANDOM_BYTES;
  return pool.toString('hex', used - RANDOM_BYTES, used);
}

/** Returns the members that identify a request in log lines. */
export function traceFields(request: Request): { request_id: string; trace_id: string; span_id: string } {
  const { requestId, traceparent } = request;
  return { request_id: requestId, trace_id: traceparent.slice(3, 35), span_id: traceparent.slice(36, 52) };
}

/** Returns the trace of a request that {@link identify} has processed. */
export function traceOf(request: Request): RequestTrace {
  const given = request.headers['x-correlation-id'];
  const correlationId = typeof given === 'string' && SANE.test(given) ? given : undefined;
  return { requestId: request.requestId, correlationId, traceparent: request.traceparent };
}

/** Injects the {@link RequestTrace} of the current request. */
export const Trace = createParamDecorator((_: unknown, context: ExecutionContext): RequestTrace =>
  traceOf(context.switchToHttp().getRequest<Request>()),
);
