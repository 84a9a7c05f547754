import { types } from 'node:util';
import { type ExecutionContext, Injectable, RequestMethod, SetMetadata, type Type } from '@nestjs/common';
import { HTTP_CODE_METADATA, METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';

const IS_HOT = Symbol('IS_HOT');

/**
 * Also serves a route by the hot lane (docs/decisions/0010-hot-lane.md). Use it for the few routes that carry nearly
 * all the load; others are only slower without it.
 */
export const Hot = (): MethodDecorator => SetMetadata(IS_HOT, true);

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
  /** The path, with parameters as `:name`. */
  path: string;
  status: number;
  controller: Type;
  handler: Handler;
  /** The parameters in the order in which they are read. */
  parameters: readonly HotParameter[];
  call(values: readonly unknown[]): unknown;
}

/** Nest's metadata of one parameter. */
interface RouteArgument {
  index: number;
  data?: unknown;
  factory?: (data: unknown, context: ExecutionContext) => unknown;
}

const METHODS: Readonly<Record<number, Pick<HotRoute, 'method' | 'status'>>> = {
  [RequestMethod.GET]: { method: 'GET', status: 200 },
  [RequestMethod.POST]: { method: 'POST', status: 201 },
};

/** Finds the routes marked `@Hot()`. A test compares their responses with those of Nest. */
@Injectable()
export class HotRoutes {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  /** Throws if the hot lane cannot read a parameter or serve a method of such a route. */
  find(): HotRoute[] {
    return this.discovery.getControllers().flatMap(({ instance }) =>
      this.scanner
        .getAllMethodNames(Object.getPrototypeOf(instance))
        .filter((name) => Reflect.hasMetadata(IS_HOT, instance[name]))
        .map((name) => readRoute(instance, name)),
    );
  }
}

function readRoute(instance: Readonly<Record<string, Handler>>, name: string): HotRoute {
  const controller: Type = Object.getPrototypeOf(instance).constructor;
  const { [name]: handler } = instance;
  const served = METHODS[handler === undefined ? NaN : Reflect.getMetadata(METHOD_METADATA, handler)];
  if (handler === undefined || served === undefined) throw notServed(controller, name, 'this method');
  const paths: unknown[] = [controller, handler].map((target) => Reflect.getMetadata(PATH_METADATA, target));
  return {
    ...served,
    name: `${controller.name}.${name}`,
    path: `/${paths.flatMap((path) => String(path).split('/').filter(Boolean)).join('/')}`,
    status: Reflect.getMetadata(HTTP_CODE_METADATA, handler) ?? served.status,
    controller,
    handler,
    parameters: readParameters(controller, name),
    call: (values) => Reflect.apply(handler, instance, values),
  };
}

/**
 * Reads the parameters in Nest's order, but the asynchronous ones last. Nest starts all of them, so an error that one
 * throws immediately comes before a rejection of another.
 */
function readParameters(controller: Type, name: string): HotParameter[] {
  const declared: Readonly<Record<string, RouteArgument>> =
    Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {};
  const parameters = Object.entries(declared).map(([key, { index, data, factory }]) => {
    if (factory !== undefined) {
      const read = (context: ExecutionContext): unknown => factory(data, context);
      return { index, read, isAsync: types.isAsyncFunction(factory) };
    }
    if (key !== `${RouteParamtypes.RESPONSE}:${index}`) throw notServed(controller, name, `parameter ${index}`);
    const read = (context: ExecutionContext): unknown => context.switchToHttp().getResponse();
    return { index, read, isAsync: false };
  });
  return [...parameters.filter(({ isAsync }) => !isAsync), ...parameters.filter(({ isAsync }) => isAsync)];
}

function notServed({ name: controller }: Type, name: string, what: string): Error {
  return new Error(`${controller}.${name} is @Hot(), but the hot lane does not serve ${what}. Remove @Hot().`);
}
