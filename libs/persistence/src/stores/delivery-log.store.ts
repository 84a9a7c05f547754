import type { Sql } from '../sql';

export class DeliveryLogStore {
  constructor(readonly sql: Sql) {}
}
