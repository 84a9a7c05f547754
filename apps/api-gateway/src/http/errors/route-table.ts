import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

export interface Route {
  /** In upper case. */
  method: string;
  /** As Express has it: with parameters as `:name`. */
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

/** The routes of the application as Express has them, in the order in which it tries them. Complete once it is initialized. */
@Injectable()
export class RouteTable {
  private known: readonly Layer[] | undefined;

  constructor(private readonly host: HttpAdapterHost) {}

  routes(): Route[] {
    return this.layers.flatMap((layer) =>
      methodsOf(layer).map((method) => ({ method, path: String(layer.route.path) })),
    );
  }

  /** Which methods a path has, so that a wrong one is told apart from a wrong path; empty when it has none. */
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
