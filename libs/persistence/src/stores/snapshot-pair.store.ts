import type { Sql } from '../sql';

export class SnapshotPairStore {
  constructor(readonly sql: Sql) {}
}
