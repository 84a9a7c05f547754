import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ANYONE, LEGACY } from '../../auth/auth.guard';
import { AnonymousRequests } from './anonymous-requests';
import { requireAllowance } from './rate-headers';
import { RateLimiter } from './rate-limiter';

/**
 * Limits requests per principal, or per address on open routes, after authentication. Sets the headers that say how
 * many requests are left. Throws `rate_limited`.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly anonymous: AnonymousRequests,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const { principal } = request;
    if (principal === undefined || principal === ANYONE || principal === LEGACY) {
      this.anonymous.count(request, http.getResponse<Response>());
      return true;
    }
    return this.limiter.window.limit === 0 || this.take(principal.principalId, http.getResponse<Response>());
  }

  private async take(principalId: string, response: Response): Promise<boolean> {
    requireAllowance(response, await this.limiter.take(principalId));
    return true;
  }
}
