import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from './principal';

/** Returns the authenticated caller. Throws on a public route, because asking there is a programming error. */
export function principalOf({ principal }: Request): Principal {
  if (principal === undefined) throw new Error('A route without authentication has no caller');
  return principal;
}

/** Injects the authenticated caller. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal =>
  principalOf(context.switchToHttp().getRequest<Request>()),
);
