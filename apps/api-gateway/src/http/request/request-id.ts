import type { RequestTrace } from '../../request-trace';
import type { Span } from '@iss/platform';
import { randomFillSync, randomUUID } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** Names this request in headers, errors, logs, audit and events. */
    requestId: string;
    /** Our part of the caller's distributed trace, or of a new one (W3C Trace Context, version 00). */
    traceparent: string;
    /** While telemetry is on. */
    span?: Span;
  }
}

const SANE = /^[A-Za-z0-9._:+/=-]{1,128}$/;
/** W3C Trace Context, 3.2: ids of zeros only are invalid. Several headers arrive joined by commas, hence invalid too. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;
const SAMPLED = 0x01;

/**
 * Takes the caller's `X-Request-Id` when it is a sane token, else makes one. Takes the trace of its `traceparent` when
 * that is valid, else starts one; what is done here gets a span id of its own.
 */
export function identify(request: Request): void {
  const given = request.headers['x-request-id'];
  request.requestId = typeof given === 'string' && SANE.test(given) ? given : randomUUID();
  request.traceparent = request.span?.traceparent ?? continueTrace(request.headers['traceparent']);
}

/** The caller's `traceparent` where it is valid, else null. */
export function callersTrace({ headers }: Pick<Request, 'headers'>): string | null {
  const given = headers['traceparent'];
  return typeof given === 'string' && TRACEPARENT.test(given) ? given : null;
}

export function requestIdMiddleware(request: Request, _response: Response, next: NextFunction): void {
  identify(request);
  next();
}

/** The `traceparent` of our part: the caller's trace and its decision on sampling, under a new span id. */
export function continueTrace(given: string | string[] | undefined): string {
  const [, traceId, flags] = (typeof given === 'string' ? TRACEPARENT.exec(given) : null) ?? [];
  const random = randomHex();
  const spanId = random.slice(0, 16);
  if (traceId === undefined || flags === undefined) return `00-${random.slice(16)}-${spanId}-01`;
  return `00-${traceId}-${spanId}-0${parseInt(flags, 16) & SAMPLED}`;
}

/** Enough for a span id and a trace id. */
const RANDOM_BYTES = 8 + 16;
/** Asked for in one call for many requests: a call takes as long for one. */
const pool = Buffer.alloc(RANDOM_BYTES * 128);
let used = pool.length;

/** 48 digits. That 16 of them are all zero, which would be no id, is as likely as two equal ids. */
function randomHex(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += RANDOM_BYTES;
  return pool.toString('hex', used - RANDOM_BYTES, used);
}

/** The members by which log lines of a request are found. */
export function traceFields(request: Request): { request_id: string; trace_id: string; span_id: string } {
  const { requestId, traceparent } = request;
  return { request_id: requestId, trace_id: traceparent.slice(3, 35), span_id: traceparent.slice(36, 52) };
}

/** The trace of a request that {@link identify} has seen. */
export function traceOf(request: Request): RequestTrace {
  const given = request.headers['x-correlation-id'];
  const correlationId = typeof given === 'string' && SANE.test(given) ? given : undefined;
  return { requestId: request.requestId, correlationId, traceparent: request.traceparent };
}

/** Injects the {@link RequestTrace} of the current request. */
export const Trace = createParamDecorator((_: unknown, context: ExecutionContext): RequestTrace =>
  traceOf(context.switchToHttp().getRequest<Request>()),
);
