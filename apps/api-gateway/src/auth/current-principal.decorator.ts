import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from './principal';

/** The authenticated caller. On a public route there is none, and asking for one is a mistake of the route's author. */
export const CurrentPrincipal = createParamDecorator((_data: unknown, context: ExecutionContext): Principal => {
  const { principal } = context.switchToHttp().getRequest<Request>();
  if (!principal) throw new Error('@CurrentPrincipal() on a route without authentication');
  return principal;
});
