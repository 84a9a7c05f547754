import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { query } from '@iss/contract';
import { operationOf } from '../describe/operation.decorator';

const NOTHING = query({});

/**
 * Refuses all query parameters on a route that takes none (contract, "Query parameters"). Throws `validation_error`.
 */
@Injectable()
export class QueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.url.includes('?') && operationOf(context)?.query === undefined) {
      NOTHING.require({ ...request.query }, ['query']);
    }
    return true;
  }
}
