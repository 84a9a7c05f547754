import { types } from 'node:util';
import {
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  Injectable,
  RequestMethod,
  type Type,
} from '@nestjs/common';
import {
  CUSTOM_ROUTE_ARGS_METADATA,
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  HEADERS_METADATA,
  HOST_METADATA,
  HTTP_CODE_METADATA,
  INTERCEPTORS_METADATA,
  METHOD_METADATA,
  PATH_METADATA,
  PIPES_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
  SSE_METADATA,
  VERSION_METADATA,
} from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper';
import { IS_HOT } from './hot.decorator';

type Handler = ReturnType<ExecutionContext['getHandler']>;

/** Reads one argument of a controller's method. */
export interface HotParameter {
  index: number;
  read(context: ExecutionContext): unknown;
}

/** A route that is marked `@Hot()`, as Nest's metadata describe it. */
export interface HotRoute {
  /** `Controller.method`. */
  name: string;
  method: string;
  /** With parameters as `:name`. */
  path: string;
  status: number;
  controller: Type;
  handler: Handler;
  /** In the order in which they are read. */
  parameters: readonly HotParameter[];
  call(values: readonly unknown[]): unknown;
}

/** As Nest keeps it for each parameter. */
interface RouteArgument {
  index: number;
  data?: unknown;
  factory?: (data: unknown, context: ExecutionContext) => unknown;
  pipes?: readonly unknown[];
  schema?: unknown;
}

const METHODS: Readonly<Record<number, Pick<HotRoute, 'method' | 'status'>>> = {
  [RequestMethod.GET]: { method: 'GET', status: 200 },
  [RequestMethod.POST]: { method: 'POST', status: 201 },
};

/** What Nest does for a method or a controller with these metadata. */
const NOT_SERVED: Readonly<Record<string, string>> = {
  [GUARDS_METADATA]: '@UseGuards',
  [PIPES_METADATA]: '@UsePipes',
  [INTERCEPTORS_METADATA]: '@UseInterceptors',
  [EXCEPTION_FILTERS_METADATA]: '@UseFilters',
  [HEADERS_METADATA]: '@Header',
  [REDIRECT_METADATA]: '@Redirect',
  [RENDER_METADATA]: '@Render',
  [SSE_METADATA]: '@Sse',
  [VERSION_METADATA]: 'a version',
  [HOST_METADATA]: 'a host',
};

/** Throws: the lane would answer otherwise than Nest does. */
type Refuse = (what: string) => never;

/**
 * What Nest does for a route, read from its metadata while the application starts. All of it throws where a route that is
 * marked `@Hot()` needs what the hot lane does not do.
 */
@Injectable()
export class HandlerChain {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly scanner: MetadataScanner,
  ) {}

  /** The guards of all routes, the first one first. */
  guards(): CanActivate[] {
    return this.registered(APP_GUARD);
  }

  /** The filters of all routes, in the order in which they are asked. */
  filters(): ExceptionFilter[] {
    return this.registered<ExceptionFilter>(APP_FILTER).reverse();
  }

  /** The routes that are marked `@Hot()`. */
  hotRoutes(): HotRoute[] {
    for (const token of [APP_INTERCEPTOR, APP_PIPE]) {
      if (this.registered(token).length > 0) throw new Error(`The hot lane does not serve an ${token}.`);
    }
    return this.all('controllers').flatMap((wrapper) =>
      this.scanner
        .getAllMethodNames(Object.getPrototypeOf(wrapper.instance))
        .filter((name) => Reflect.hasMetadata(IS_HOT, wrapper.instance[name]))
        .map((name) => readRoute(wrapper, name)),
    );
  }

  /** What modules provide under the token, which may be there more than once: Nest gives each a name of its own. */
  private registered<Enhancer>(token: string): Enhancer[] {
    const found = this.all('providers', 'injectables').filter((wrapper) => String(wrapper.token).startsWith(token));
    if (!found.every((wrapper) => wrapper.isDependencyTreeStatic())) {
      throw new Error(`The hot lane does not serve an ${token} that is made for each request.`);
    }
    return found.map(({ instance }): Enhancer => instance);
  }

  private all(...kinds: ('controllers' | 'providers' | 'injectables')[]): InstanceWrapper[] {
    return [...this.modules.values()].flatMap((module) => kinds.flatMap((kind) => [...module[kind].values()]));
  }
}

function readRoute(wrapper: InstanceWrapper, name: string): HotRoute {
  const { instance } = wrapper;
  const controller: Type = instance.constructor;
  const handler: Handler = instance[name];
  const refuse: Refuse = (what) => {
    throw new Error(`${controller.name}.${name} is @Hot(), but the hot lane does not serve ${what}. Take @Hot() off.`);
  };
  if (!wrapper.isDependencyTreeStatic()) refuse('controllers that are made for each request');
  for (const [key, what] of Object.entries(NOT_SERVED)) {
    if ([controller, handler].some((target) => Reflect.getMetadata(key, target) !== undefined)) refuse(what);
  }
  const { method, status } =
    METHODS[Reflect.getMetadata(METHOD_METADATA, handler)] ?? refuse('methods but GET and POST');
  const paths: unknown[] = [controller, handler].map((target) => Reflect.getMetadata(PATH_METADATA, target));
  return {
    name: `${controller.name}.${name}`,
    method,
    path: paths
      .flatMap((path) => String(path).split('/').filter(Boolean))
      .reduce((path, part) => `${path}/${part}`, ''),
    status: Reflect.getMetadata(HTTP_CODE_METADATA, handler) ?? status,
    controller,
    handler,
    parameters: readParameters(controller, name, refuse),
    call: (values) => Reflect.apply(handler, instance, values),
  };
}

/**
 * In Nest's order, and those that are waited for after the others: Nest begins with all of them, so that what one throws
 * at once comes before what another one rejects with.
 */
function readParameters(controller: Type, name: string, refuse: Refuse): HotParameter[] {
  const given: Readonly<Record<string, RouteArgument>> =
    Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {};
  const isPassedThrough = Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, name) === true;
  const parameters = Object.entries(given).map(([key, { index, data, factory, pipes = [], schema }]) => {
    if (pipes.length > 0 || schema !== undefined) refuse('pipes of parameters');
    if (key.includes(CUSTOM_ROUTE_ARGS_METADATA) && factory !== undefined) {
      const read = (context: ExecutionContext): unknown => factory(data, context);
      return { index, read, isAsync: types.isAsyncFunction(factory) };
    }
    if (key !== `${RouteParamtypes.RESPONSE}:${index}` || !isPassedThrough) {
      refuse('parameters but those of createParamDecorator and @Res({ passthrough: true })');
    }
    const read = (context: ExecutionContext): unknown => context.switchToHttp().getResponse();
    return { index, read, isAsync: false };
  });
  return [...parameters.filter(({ isAsync }) => !isAsync), ...parameters.filter(({ isAsync }) => isAsync)];
}
