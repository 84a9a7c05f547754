import { DomainError } from '@iss/domain';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ANYONE, LEGACY } from '../../auth/auth.guard';
import type { Principal } from '../../auth/principal';
import type { RateLimiter } from './rate-limiter';

/** The limit of each principal, after authentication. Who comes to an open route without a token is not counted. */
export class RateLimitGuard implements CanActivate {
  constructor(private readonly limiter: RateLimiter) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { principal } = context.switchToHttp().getRequest<Request>();
    if (principal === undefined || principal === ANYONE || principal === LEGACY) return true;
    await this.count(principal, context.switchToHttp().getResponse<Response>());
    return true;
  }

  /** Counts one request, and tells its caller how many are left. Throws `rate_limited`. */
  async count(principal: Principal, response: Response): Promise<void> {
    const { isAllowed, remaining, resetSeconds } = await this.limiter.take(principal.principalId);
    const { limit } = this.limiter;
    response.setHeader('RateLimit-Limit', limit);
    response.setHeader('RateLimit-Remaining', remaining);
    response.setHeader('RateLimit-Reset', resetSeconds);
    response.setHeader('RateLimit-Policy', `${limit};w=60`);
    if (isAllowed) return;
    response.setHeader('Retry-After', resetSeconds);
    throw new DomainError(
      'rate_limited',
      `More than ${limit} requests in a minute. Wait ${resetSeconds} s, as Retry-After says.`,
    );
  }
}
