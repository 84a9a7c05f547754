import type { Operation as Facts } from '@iss/contract';
import { type ExecutionContext, HttpCode, RequestMapping, RequestMethod } from '@nestjs/common';
import { Public } from '../../auth/public.decorator';

type Handler = ReturnType<ExecutionContext['getHandler']>;

/** The operation that each controller method serves. */
const OPERATIONS = new WeakMap<Handler, Facts>();

/** Returns the operation of a request's route; undefined for the few routes outside the interface. */
export function operationOf(context: ExecutionContext): Facts | undefined {
  return OPERATIONS.get(context.getHandler());
}

/**
 * Makes a method serve operations of the contract. Sets the route and the success status of each, and whether it needs
 * a token. Several operations get one method each, which calls the same code. They share decorators below this one;
 * those above apply to the first.
 */
export function Operation(first: Facts, ...others: readonly Facts[]): MethodDecorator {
  return (target: object, key: string | symbol, descriptor: PropertyDescriptor): void => {
    for (const operation of others) {
      const other = copyOf(target, key, descriptor, operation.id);
      Object.defineProperty(target, operation.id, other);
      serve(target, operation.id, other, operation);
    }
    serve(target, key, descriptor, first);
  };
}

/** Returns a method that calls another one, with the same metadata and parameters. */
function copyOf(target: object, key: string | symbol, { value, ...attributes }: PropertyDescriptor, name: string) {
  const handler: Handler = value;
  const copy = function (this: unknown, ...values: readonly unknown[]): unknown {
    return Reflect.apply(handler, this, values);
  };
  for (const each of Reflect.getMetadataKeys(handler)) {
    Reflect.defineMetadata(each, Reflect.getMetadata(each, handler), copy);
  }
  // Nest stores the metadata of parameters by class and method name.
  const { constructor } = target;
  for (const each of Reflect.getMetadataKeys(constructor, key)) {
    Reflect.defineMetadata(each, Reflect.getMetadata(each, constructor, key), constructor, name);
  }
  return { ...attributes, value: copy };
}

const METHODS = {
  get: RequestMethod.GET,
  put: RequestMethod.PUT,
  post: RequestMethod.POST,
  patch: RequestMethod.PATCH,
  delete: RequestMethod.DELETE,
} as const satisfies Record<Facts['method'], RequestMethod>;

function serve(target: object, key: string | symbol, descriptor: PropertyDescriptor, operation: Facts): void {
  const handler: Handler = descriptor.value;
  OPERATIONS.set(handler, operation);
  const successes = Object.keys(operation.answers).filter((status) => status.startsWith('2'));
  const decorators = [
    RequestMapping({ method: METHODS[operation.method], path: routeOf(operation) }),
    ...(successes.length === 1 ? [HttpCode(Number(successes[0]))] : []),
    ...(operation.public === 'never' ? [] : [Public(operation.public)]),
  ];
  for (const decorate of decorators) decorate(target, key, descriptor);
}

/** Returns the path of an operation in Express's form, with parameters as `:name`. */
export function routeOf({ path }: Pick<Facts, 'path'>): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
