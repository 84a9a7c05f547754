import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import type { ArgumentsHost } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { HotRoute } from './handler-chain';

type Http = ReturnType<ArgumentsHost['switchToHttp']>;

/**
 * The context of a request for guards, parameter decorators and filters. One object serves all of them and is also the
 * result of `switchToHttp`. Nest creates a context for each, and new functions for each switch.
 */
export class HotContext extends ExecutionContextHost implements Http {
  constructor(request: Request, response: Response, { controller, handler }: HotRoute) {
    super([request, response], controller, handler);
  }

  override switchToHttp(): Http {
    return this;
  }

  getRequest<T>(): T {
    return this.getArgByIndex(0);
  }

  getResponse<T>(): T {
    return this.getArgByIndex(1);
  }

  getNext<T>(): T {
    throw new Error('The hot lane has no next handler');
  }
}
