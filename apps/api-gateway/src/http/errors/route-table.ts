import type { INestApplication } from '@nestjs/common';

interface Layer {
  route?: { methods: Record<string, boolean> };
  match(path: string): boolean;
}

function isLayer(value: unknown): value is Layer {
  return typeof value === 'object' && value !== null && 'match' in value && typeof value.match === 'function';
}

/** Which methods a path has, so that a wrong one is told apart from a wrong path. Filled once the routes are registered. */
export class RouteTable {
  private layers: Layer[] = [];

  load(app: INestApplication): void {
    const express: unknown = app.getHttpAdapter().getInstance();
    const router: unknown = typeof express === 'function' && 'router' in express ? express.router : undefined;
    const stack: unknown = typeof router === 'function' && 'stack' in router ? router.stack : [];
    this.layers = Array.isArray(stack) ? stack.filter(isLayer).filter((layer) => layer.route !== undefined) : [];
  }

  /** Methods of the routes that match the path, in upper case; empty when none does. */
  methodsOf(path: string): string[] {
    const methods = this.layers.flatMap((layer) => {
      try {
        return layer.match(path) ? Object.keys(layer.route?.methods ?? {}) : [];
      } catch {
        return [];
      }
    });
    return [...new Set(methods.map((method) => method.toUpperCase()))].filter((method) => method !== '_ALL').sort();
  }
}
