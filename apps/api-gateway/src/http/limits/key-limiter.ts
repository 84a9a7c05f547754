import type { RateLimitStore } from '@iss/persistence';
import { RateLimiter } from './rate-limiter';

const DAY_SECONDS = 86_400;

/** Counts the new `Idempotency-Key`s of a principal, by the day: the answers to them are kept for as long. */
export class KeyLimiter extends RateLimiter {
  constructor(limit: number, store: Pick<RateLimitStore, 'reserve'>) {
    super({ name: 'idempotency_keys_per_day', limit, seconds: DAY_SECONDS }, store);
  }
}
