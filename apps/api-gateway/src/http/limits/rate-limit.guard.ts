import { DomainError } from '@iss/domain';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ANYONE, LEGACY } from '../../auth/auth.guard';
import { RateLimiter } from './rate-limiter';

/**
 * The limit of each principal, after authentication: counts a request, and tells its caller how many are left. Throws
 * `rate_limited`. Who comes to an open route without a token is not counted.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly limiter: RateLimiter) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { principal } = http.getRequest<Request>();
    if (principal === undefined || principal === ANYONE || principal === LEGACY) return true;
    const response = http.getResponse<Response>();
    const { isAllowed, remaining, resetSeconds } = await this.limiter.take(principal.principalId);
    const { limit } = this.limiter;
    response.setHeader('RateLimit-Limit', limit);
    response.setHeader('RateLimit-Remaining', remaining);
    response.setHeader('RateLimit-Reset', resetSeconds);
    response.setHeader('RateLimit-Policy', `${limit};w=60`);
    if (isAllowed) return true;
    response.setHeader('Retry-After', resetSeconds);
    throw new DomainError(
      'rate_limited',
      `More than ${limit} requests in a minute. Wait ${resetSeconds} s, as Retry-After says.`,
    );
  }
}
