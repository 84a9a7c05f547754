import type { Server } from 'node:http';
import type { JsonValue } from '@iss/domain';
import type { Express, Request, Response } from 'express';
import type { AuthGuard } from '../../auth/auth.guard';
import type { Principal } from '../../auth/principal';
import type { Watch } from '../answer/access-log';
import type { ErrorFilter } from '../errors/error.filter';
import { sendWhole } from '../answer/json-adapter';
import { readJson } from '../request/json-body';
import { JsonText } from '../answer/json-text';
import type { RateLimitGuard } from '../limits/rate-limit.guard';
import { inBatches } from './request-batches';
import type { RequestTrace } from '../../request-trace';
import { identify, traceOf } from '../request/request-id';
import { setHeaders, standingHeaders } from '../answer/standing-headers';

/** A request on the hot lane: what its controller's parameters are made of. */
export interface HotCall {
  /** A parameter of the path: decoded, not checked. */
  param(name: string): string;
  principal: Principal;
  trace: RequestTrace;
  /** The body, as `JsonBody` reads it. */
  body(): Promise<JsonValue>;
  response: Response;
}

/** A route that the hot lane serves too. Path and status are those of its controller. */
export interface HotRoute {
  method: 'GET' | 'POST';
  /** With parameters as `:name`. */
  path: string;
  status: number;
  handle(call: HotCall): Promise<object>;
}

/** What the lane has in common with the ordinary way. */
export interface CommonParts {
  express: Express;
  watch: Watch;
  auth: AuthGuard;
  rateLimit: RateLimitGuard | undefined;
  errors: ErrorFilter;
}

type Route = HotRoute & { segments: readonly string[] };

/**
 * The way around Express's router and Nest's handler chain for the few routes that carry nearly all the load, since both
 * take longer than the work itself (docs/decisions/0010-hot-lane.md). Trace, log, guards, controllers
 * and errors are the same ones, in the same order; a test holds the answers of both ways against each other.
 *
 * Only plain requests are taken: no query, no Idempotency-Key. Express serves all others.
 */
export class HotLane {
  private readonly routes = new Map<string, Route[]>();

  constructor(
    routes: readonly HotRoute[],
    private readonly parts: CommonParts,
  ) {
    for (const route of routes) {
      const segments = route.path.split('/');
      const key = keyOf(route.method, segments.length);
      this.routes.set(key, [...(this.routes.get(key) ?? []), { ...route, segments }]);
    }
  }

  /** Puts the lane in front of the application. */
  install(server: Server): void {
    const { express } = this.parts;
    server.removeAllListeners('request');
    const serve = inBatches((request, response) => {
      if (!this.take(request, response)) express(request, response);
    });
    server.on('request', serve);
  }

  private take(request: Request, response: Response): boolean {
    const { url, method } = request;
    if (url.includes('?') || request.headers['idempotency-key'] !== undefined) return false;
    const given = url.split('/');
    const route = this.routes.get(keyOf(method, given.length))?.find(({ segments }) => matches(segments, given));
    const params = route === undefined ? undefined : readParams(route.segments, given);
    if (route === undefined || params === undefined) return false;
    request.res = response;
    request.originalUrl = url;
    request.params = params;
    request.route = { path: route.path };
    void this.serve(route, request, response);
    return true;
  }

  private async serve(route: Route, request: Request, response: Response): Promise<void> {
    const { watch, auth, rateLimit, errors } = this.parts;
    identify(request);
    watch(request, response);
    try {
      const principal = await auth.authenticate(request, response);
      if (rateLimit !== undefined) await rateLimit.count(principal, response);
      response.statusCode = route.status;
      const result = await route.handle({
        param: (name) => String(request.params[name]),
        principal,
        trace: traceOf(request),
        body: () => readJson(request),
        response,
      });
      sendWhole(response, result instanceof JsonText ? result : new JsonText(JSON.stringify(result)));
    } catch (error) {
      if (!response.headersSent) setHeaders(response, standingHeaders(request));
      errors.answer(error, request, response);
    }
  }
}

function keyOf(method: string, segments: number): string {
  return `${method} ${segments}`;
}

function matches(segments: readonly string[], given: readonly string[]): boolean {
  return segments.every(
    (segment, index) => segment === given[index] || (segment.startsWith(':') && given[index] !== ''),
  );
}

/** Undefined when the path cannot be decoded. */
function readParams(segments: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  try {
    segments.forEach((segment, index) => {
      const text = given[index] ?? '';
      if (segment.startsWith(':')) params[segment.slice(1)] = text.includes('%') ? decodeURIComponent(text) : text;
    });
    return params;
  } catch {
    return undefined;
  }
}
