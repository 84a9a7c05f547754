import type { Sql } from '../sql';

export class RefreshRequestStore {
  constructor(readonly sql: Sql) {}
}
