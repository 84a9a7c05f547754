import { telemetry } from '@iss/platform';
import { type CanActivate, ForbiddenException, type OnApplicationBootstrap } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import type { ExpressAdapter } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { ERRORS_PATH } from '@iss/contract';
import { AccessLog } from '../answer/access-log';
import { sendWhole } from '../answer/json-adapter';
import { JsonText } from '../answer/json-text';
import { inTurn } from '../server/in-turn';
import { traceRequests } from '../answer/request-spans';
import { setHeaders, standingHeaders } from '../answer/standing-headers';
import { requiringHost } from '../errors/malformed-requests';
import type { RouteTable } from '../errors/route-table';
import { identify } from '../request/request-id';
import { inBatches } from '../server/request-batches';
import type { HotRoute, HotRoutes } from './hot-routes';
import { ErrorFilter } from '../errors/error.filter';

/** A route of the application. Express serves it if `hot` is undefined. */
interface Candidate {
  /** Its position in Express's order. */
  place: number;
  segments: readonly string[];
  hot: HotRoute | undefined;
}

/**
 * Goes around Express's router and Nest's handler chain for the few routes that carry nearly all the load, because both
 * take a quarter of such a request's processor time (docs/decisions/0010-hot-lane.md). Trace, log, parameter
 * decorators, controllers and errors are the same, in the same order. A test compares the responses of both ways.
 *
 * The lane takes only plain requests, without a query or an Idempotency-Key, so their guards are not needed. Express
 * serves all others. A trailing `*name` is not passed as a parameter: such a route reads its path.
 */
export class HotLane implements OnApplicationBootstrap {
  /**
   * The routes by method and number of segments, in Express's order. Of two routes that match a path, the first is
   * used.
   */
  private readonly candidates = new Map<string, Candidate[]>();
  /** Routes that end with `*name`, which matches any number of segments, by method. */
  private readonly open = new Map<string, Candidate[]>();

  /** The guards are in the order in which they decide. */
  constructor(
    private readonly host: HttpAdapterHost<ExpressAdapter>,
    private readonly hotRoutes: HotRoutes,
    private readonly table: RouteTable,
    private readonly log: AccessLog,
    private readonly errors: ErrorFilter,
    private readonly guards: readonly CanActivate[],
  ) {}

  /** Installs the lane in front of the application. */
  onApplicationBootstrap(): void {
    this.place(this.hotRoutes.find());
    const express = this.host.httpAdapter.getInstance();
    const server = this.host.httpAdapter.getHttpServer();
    server.removeAllListeners('request');
    const serve = (request: Request, response: Response): void => {
      if (!this.take(request, response)) express(request, response);
    };
    const { tracer } = telemetry;
    const listener = inBatches(tracer === null ? serve : traceRequests(serve, tracer));
    server.on('request', inTurn(requiringHost(listener, ERRORS_PATH)));
  }

  private place(hotRoutes: readonly HotRoute[]): void {
    const missing = new Set(hotRoutes);
    for (const [place, { method, path }] of this.table.routes().entries()) {
      const hot = hotRoutes.find((route) => route.method === method && route.path === path);
      const segments = path.split('/');
      const [shelf, key] = isOpen(segments) ? [this.open, method] : [this.candidates, keyOf(method, segments.length)];
      shelf.set(key, [...(shelf.get(key) ?? []), { place, segments, hot }]);
      if (hot !== undefined) missing.delete(hot);
    }
    for (const { name, path } of missing) throw new Error(`${name} is @Hot(), but Express has no route ${path}.`);
  }

  private take(request: Request, response: Response): boolean {
    const { url, method } = request;
    if (url.includes('?') || request.headers['idempotency-key'] !== undefined) return false;
    const given = url.split('/');
    const found = this.find(method, given);
    if (found?.hot === undefined) return false;
    const params = readParams(found.segments, given);
    if (params === undefined) return false;
    request.res = response;
    request.originalUrl = url;
    request.params = params;
    request.route = { path: found.hot.path };
    // A failure that cannot be answered with an error closes the connection.
    this.serve(found.hot, request, response).catch(() => response.destroy());
    return true;
  }

  private find(method: string, given: readonly string[]): Candidate | undefined {
    const closed = this.candidates.get(keyOf(method, given.length))?.find(({ segments }) => matches(segments, given));
    const open = this.open.get(method)?.find(({ segments }) => matchesOpen(segments, given));
    if (closed === undefined || open === undefined) return closed ?? open;
    return closed.place < open.place ? closed : open;
  }

  private async serve(route: HotRoute, request: Request, response: Response): Promise<void> {
    identify(request);
    this.log.watch(request, response);
    const context = new ExecutionContextHost([request, response], route.controller, route.handler);
    try {
      for (const guard of this.guards) {
        const verdict = guard.canActivate(context);
        if (verdict !== true && (await verdict) !== true) throw new ForbiddenException();
      }
      response.statusCode = route.status;
      const values = new Array<unknown>(route.parameters.length);
      for (const { index, read } of route.parameters) {
        const value = read(context);
        values[index] = value instanceof Promise ? await value : value;
      }
      const result = await route.call(values);
      if (result instanceof JsonText) {
        sendWhole(response, result);
        return;
      }
      setHeaders(response, standingHeaders(request));
      await this.host.httpAdapter.reply(response, result);
    } catch (error) {
      if (!response.headersSent) setHeaders(response, standingHeaders(request));
      this.errors.catch(error, context);
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

function isOpen(segments: readonly string[]): boolean {
  return segments.at(-1)?.startsWith('*') === true;
}

/**
 * Returns whether a path matches a route that ends with `*name`: the segments before it match, and something follows.
 */
function matchesOpen(segments: readonly string[], given: readonly string[]): boolean {
  const before = segments.slice(0, -1);
  return given.length >= segments.length && matches(before, given) && given.slice(before.length).join('/') !== '';
}

/** Returns undefined if the path cannot be decoded, or if a route with `*name` would have to decode anything. */
function readParams(segments: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  if (isOpen(segments) && given.some((text) => text.includes('%'))) return undefined;
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
