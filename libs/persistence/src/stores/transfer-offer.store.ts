import type { Sql } from '../sql';

export class TransferOfferStore {
  constructor(readonly sql: Sql) {}
}
