import type { Sql } from '../sql';

export class SnapshotListStore {
  constructor(readonly sql: Sql) {}
}
