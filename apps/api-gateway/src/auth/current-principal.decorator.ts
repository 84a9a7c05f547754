import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from './principal';

/** The authenticated caller. On a public route there is none, and asking for one is a mistake of the route's author. */
export function principalOf({ principal }: Request): Principal {
  if (principal === undefined) throw new Error('The caller was asked for on a route without authentication');
  return principal;
}

/** Injects the authenticated caller. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal =>
  principalOf(context.switchToHttp().getRequest<Request>()),
);
