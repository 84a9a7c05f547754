import type { Sql } from '../sql';

export class SubjectStore {
  constructor(readonly sql: Sql) {}
}
