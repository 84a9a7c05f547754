import type { Sql } from '../sql';

export class IdempotencyStore {
  constructor(readonly sql: Sql) {}
}
