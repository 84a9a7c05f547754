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

/** A route that is marked `@Hot()`, as described by Nest's metadata. */
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

/** Nest's metadata of one parameter. */
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

/** Metadata of methods and controllers that the hot lane does not implement, with names for errors. */
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

/** Throws, because the lane would answer differently from Nest. */
type Refuse = (what: string) => never;

/**
 * Reads from metadata, at start, how Nest handles a route. All methods throw if a route marked `@Hot()` needs something
 * that the hot lane does not implement.
 */
@Injectable()
export class HandlerChain {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly scanner: MetadataScanner,
  ) {}

  /** Returns the global guards in the order in which Nest runs them. */
  guards(): CanActivate[] {
    return this.registered(APP_GUARD);
  }

  /** Returns the global filters in the order in which Nest tries them. */
  filters(): ExceptionFilter[] {
    return this.registered<ExceptionFilter>(APP_FILTER).reverse();
  }

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

  /** Returns what modules provide under a token. Nest gives each provider its own name, which starts with the token. */
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
    throw new Error(`${controller.name}.${name} is @Hot(), but the hot lane does not serve ${what}. Remove @Hot().`);
  };
  if (!wrapper.isDependencyTreeStatic()) refuse('controllers that are made for each request');
  for (const [key, what] of Object.entries(NOT_SERVED)) {
    if ([controller, handler].some((target) => Reflect.getMetadata(key, target) !== undefined)) refuse(what);
  }
  const { method, status } =
    METHODS[Reflect.getMetadata(METHOD_METADATA, handler)] ?? refuse('methods other than GET and POST');
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
 * Reads the parameters in Nest's order, but the asynchronous ones last. Nest starts all of them, so an error that one
 * throws immediately comes before a rejection of another.
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
      refuse('parameters other than those of createParamDecorator and @Res({ passthrough: true })');
    }
    const read = (context: ExecutionContext): unknown => context.switchToHttp().getResponse();
    return { index, read, isAsync: false };
  });
  return [...parameters.filter(({ isAsync }) => !isAsync), ...parameters.filter(({ isAsync }) => isAsync)];
}
