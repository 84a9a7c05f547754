import { DomainError } from '@iss/domain';
import type { Response } from 'express';
import type { Allowance } from './rate-limiter';

const WINDOW_SECONDS = 60;

/** Sets the rate limit headers. Throws `rate_limited` if no request is left. */
export function requireAllowance(response: Response, allowance: Allowance, hint = ''): void {
  const { isAllowed, limit, remaining, resetSeconds } = allowance;
  response.setHeader('RateLimit-Limit', limit);
  response.setHeader('RateLimit-Remaining', remaining);
  response.setHeader('RateLimit-Reset', resetSeconds);
  response.setHeader('RateLimit-Policy', `${limit};w=${WINDOW_SECONDS}`);
  if (isAllowed) return;
  response.setHeader('Retry-After', resetSeconds);
  throw new DomainError(
    'rate_limited',
    `More than ${limit} requests per minute${hint}. Wait ${resetSeconds} s (Retry-After), then try again.`,
  );
}

/** Returns whether a response has rate limit headers, which means that its request was counted. */
export function hasAllowanceHeaders(response: Response): boolean {
  return response.hasHeader('RateLimit-Limit');
}
