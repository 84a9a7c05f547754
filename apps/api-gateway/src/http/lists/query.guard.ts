import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { query } from '@iss/contract';
import { TAKES_QUERY } from './query';

const NOTHING = query({});

/**
 * Refuses all query parameters on a route that takes none (contract, "Query parameters"). Throws `validation_error`.
 */
@Injectable()
export class QueryGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.url.includes('?') && this.reflector.get(TAKES_QUERY, context.getHandler()) !== true) {
      NOTHING.require({ ...request.query }, ['query']);
    }
    return true;
  }
}
