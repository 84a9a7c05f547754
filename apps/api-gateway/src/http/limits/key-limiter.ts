import type { RateLimitStore } from '@iss/persistence';
import { RateLimiter } from './rate-limiter';

const DAY_SECONDS = 86_400;

/** Counts a principal's new `Idempotency-Key`s per day. Responses are also stored for a day. */
export class KeyLimiter extends RateLimiter {
  constructor(limit: number, store: Pick<RateLimitStore, 'reserve'>) {
    super({ name: 'idempotency_keys_per_day', limit, seconds: DAY_SECONDS }, store);
  }
}
