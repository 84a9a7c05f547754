import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';

const OLDEST_EVENT = statement<NoParameters, { ageMs: number }>(
  'backlog_oldest_event',
  `SELECT coalesce(extract(epoch FROM clock_timestamp() - least(
         (SELECT created_at FROM outbox_events WHERE fanned_out_at IS NULL ORDER BY created_at LIMIT 1),
         (SELECT marked_at FROM outbox_waiting ORDER BY waiting_id LIMIT 1))) * 1000, 0)::float8 AS "ageMs"`,
);

const OLDEST_DELIVERY = statement<NoParameters, { ageMs: number }>(
  'backlog_oldest_delivery',
  `SELECT coalesce((SELECT extract(epoch FROM clock_timestamp() - next_at) * 1000 FROM deliveries
                     WHERE status = 'pending' AND next_at <= now() AND (lease_until IS NULL OR lease_until <= now())
                     ORDER BY next_at LIMIT 1), 0)::float8 AS "ageMs"`,
);

/** The backlog of the workers in PostgreSQL, for metrics and probes of both apps. */
export class BacklogStore {
  constructor(private readonly sql: Sql) {}

  /** Returns the age in milliseconds of the oldest fact or event whose deliveries are incomplete; 0 if there is none. */
  async oldestEventMs(): Promise<number> {
    return (await this.sql.one(OLDEST_EVENT, {})).ageMs;
  }

  /** Returns for how many milliseconds the oldest delivery without a worker has been due; 0 if there is none. */
  async oldestDeliveryMs(): Promise<number> {
    return (await this.sql.one(OLDEST_DELIVERY, {})).ageMs;
  }
}
