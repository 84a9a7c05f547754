import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

export interface Route {
  /** In upper case. */
  method: string;
  /** The path in Express's form, with parameters as `:name`. */
  path: string;
}

/** A layer of Express's router that is a route. */
interface Layer {
  route: { path: unknown; methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

function isLayer(value: unknown): value is Layer {
  if (typeof value !== 'object' || value === null) return false;
  return 'match' in value && typeof value.match === 'function' && 'route' in value && value.route !== undefined;
}

/** The application's routes, in the order in which Express tries them. Complete after initialization. */
@Injectable()
export class RouteTable {
  private known: readonly Layer[] | undefined;

  constructor(private readonly host: HttpAdapterHost) {}

  routes(): Route[] {
    return this.layers.flatMap((layer) =>
      methodsOf(layer).map((method) => ({ method, path: String(layer.route.path) })),
    );
  }

  /** Returns the methods of a path, to distinguish a wrong method from a wrong path. Empty if the path has none. */
  methodsOf(path: string): string[] {
    const methods = this.layers.flatMap((layer) => {
      try {
        return layer.match(path) ? methodsOf(layer) : [];
      } catch {
        return [];
      }
    });
    return [...new Set(methods)].sort();
  }

  private get layers(): readonly Layer[] {
    return (this.known ??= layersOf(this.host.httpAdapter.getInstance()));
  }
}

function methodsOf({ route }: Layer): string[] {
  return Object.keys(route.methods)
    .map((method) => method.toUpperCase())
    .filter((method) => method !== '_ALL');
}

function layersOf(express: unknown): Layer[] {
  const router: unknown = typeof express === 'function' && 'router' in express ? express.router : undefined;
  const stack: unknown = typeof router === 'function' && 'stack' in router ? router.stack : [];
  return Array.isArray(stack) ? stack.filter(isLayer) : [];
}
