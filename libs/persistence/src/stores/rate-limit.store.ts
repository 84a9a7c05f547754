import type { Sql } from '../sql';

export class RateLimitStore {
  constructor(readonly sql: Sql) {}
}
