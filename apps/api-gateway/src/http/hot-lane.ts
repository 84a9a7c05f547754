import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { JsonValue } from '@iss/domain';
import type { Express, NextFunction, Request, Response } from 'express';
import type { AuthGuard } from '../auth/auth.guard';
import type { Principal } from '../auth/principal';
import type { ErrorFilter } from './error.filter';
import type { JsonAdapter } from './json-adapter';
import { readJson } from './json-body';
import type { RateLimitGuard } from './rate-limit.guard';
import { type RequestTrace, traceOf } from './request-id';

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
  handle(call: HotCall): Promise<unknown>;
}

/** What the lane has in common with the ordinary way. */
export interface CommonParts {
  express: Express;
  middlewares: readonly ((request: Request, response: Response, next: NextFunction) => void)[];
  auth: AuthGuard;
  rateLimit: RateLimitGuard | undefined;
  errors: ErrorFilter;
  adapter: JsonAdapter;
}

type Route = HotRoute & { segments: readonly string[] };

/**
 * The way around Express's router and Nest's handler chain for the few routes that carry nearly all the load, since both
 * take longer than the work itself (docs/decisions/0010-hot-lane.md). Middlewares, guards, controllers, answers and errors
 * are the same ones, in the same order; a test holds the answers of both ways against each other.
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
    server.on('request', (message: IncomingMessage, answer: ServerResponse) => {
      if (!this.take(message, answer)) express(message, answer);
    });
  }

  private take(message: IncomingMessage, answer: ServerResponse): boolean {
    const { url = '', method = '' } = message;
    if (url.includes('?') || message.headers['idempotency-key'] !== undefined) return false;
    const given = url.split('/');
    const route = this.routes.get(keyOf(method, given.length))?.find(({ segments }) => matches(segments, given));
    const params = route === undefined ? undefined : readParams(route.segments, given);
    if (route === undefined || params === undefined) return false;
    const [request, response] = this.adopt(message, answer);
    request.params = params;
    request.route = { path: route.path };
    void this.serve(route, request, response);
    return true;
  }

  private async serve(route: Route, request: Request, response: Response): Promise<void> {
    const { middlewares, auth, rateLimit, errors, adapter } = this.parts;
    try {
      for (const middleware of middlewares) middleware(request, response, NOTHING);
      const principal = await auth.authenticate(request, response);
      if (rateLimit !== undefined) await rateLimit.count(principal, response);
      response.status(route.status);
      const result = await route.handle({
        param: (name) => String(request.params[name]),
        principal,
        trace: traceOf(request),
        body: () => readJson(request),
        response,
      });
      await adapter.reply(response, result);
    } catch (error) {
      errors.answer(error, request, response);
    }
  }

  /** Makes of Node's objects what Express would make of them. */
  private adopt(message: IncomingMessage, answer: ServerResponse): [Request, Response] {
    const { express } = this.parts;
    const request: Request = Object.setPrototypeOf(message, express.request);
    const response: Response = Object.setPrototypeOf(answer, express.response);
    request.res = response;
    response.req = request;
    request.originalUrl = request.url;
    return [request, response];
  }
}

const NOTHING = (): void => undefined;

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
