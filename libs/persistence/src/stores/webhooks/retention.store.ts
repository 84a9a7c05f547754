import type { PageRequest, PagePosition } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/**
 * Deletes deliveries with their attempts. A delivery that was concurrently made due again is checked again under its lock, and
 * stays.
 */
const DELETE_DELIVERIES = statement<{ days: number; limit: number }, { deleted: number }>(
  'retention_delete_deliveries',
  `WITH deleted AS (
     DELETE FROM deliveries WHERE delivery_id = ANY (ARRAY(
       SELECT delivery_id FROM deliveries WHERE finished_at < now() - :days * interval '1 day'
        ORDER BY finished_at LIMIT :limit FOR UPDATE SKIP LOCKED))
     RETURNING 1
   )
   SELECT count(*)::int AS deleted FROM deleted`,
);

// The position is always present, so that a generic plan starts its scan there.
const DELETE_EVENTS = statement<
  { days: number; limit: number; fannedOutAt: string | number | null; eventId: string | number | null },
  { position: PagePosition; isDeleted: boolean }
>(
  'retention_delete_events',
  `WITH old AS MATERIALIZED (
     SELECT event_id, fanned_out_at FROM outbox_events
      WHERE fanned_out_at < now() - :days * interval '1 day'
        AND fanned_out_at >= coalesce(:fannedOutAt::timestamptz, '-infinity')
        AND (fanned_out_at, event_id)
            > (coalesce(:fannedOutAt::timestamptz, '-infinity'), coalesce(:eventId::uuid, '00000000-0000-0000-0000-000000000000'))
      ORDER BY fanned_out_at, event_id LIMIT :limit FOR UPDATE SKIP LOCKED
   ), deleted AS (
     DELETE FROM outbox_events WHERE event_id = ANY (ARRAY(
       SELECT event_id FROM old
        WHERE (SELECT true FROM deliveries d WHERE d.event_id = old.event_id LIMIT 1) IS NULL))
     RETURNING event_id
   )
   SELECT ARRAY[old.fanned_out_at::text, old.event_id::text] AS position, deleted.event_id IS NOT NULL AS "isDeleted"
     FROM old LEFT JOIN deleted ON deleted.event_id = old.event_id
    ORDER BY old.fanned_out_at, old.event_id`,
);

/**
 * Deletes old rate-limit windows. The longest window is a day, and the margin covers clock differences and running statements.
 */
const DELETE_RATE_WINDOWS = statement<{ limit: number }, { deleted: number }>(
  'retention_delete_rate_windows',
  `WITH deleted AS (
     DELETE FROM rate_limits WHERE principal_id = ANY (ARRAY(
       SELECT principal_id FROM rate_limits WHERE window_start < now() - interval '1 day 10 minutes'
        ORDER BY window_start LIMIT :limit FOR UPDATE SKIP LOCKED))
     RETURNING 1
   )
   SELECT count(*)::int AS deleted FROM deleted`,
);

/**
 * Deletes expired rows in batches that are found by index. Rows that are locked are skipped, so writers never wait, and any
 * number of processes may delete.
 */
export class RetentionStore {
  constructor(private readonly sql: Sql) {}

  /** Deletes at most `limit` deliveries that ended more than `days` ago, with their attempts. Returns their number. */
  async deleteDeliveries(days: number, limit: number): Promise<number> {
    return (await this.sql.one(DELETE_DELIVERIES, { days, limit })).deleted;
  }

  /**
   * Examines `limit` events that were fanned out more than `days` ago, oldest first, and deletes those without deliveries. A
   * delivery needs its event's body while it may be sent again. Returns the number of deleted events and the next position, or
   * null at the end.
   */
  async deleteEvents(
    days: number,
    { limit, after }: PageRequest,
  ): Promise<{ deleted: number; next: PagePosition | null }> {
    const [fannedOutAt = null, eventId = null] = after ?? [];
    const rows = await this.sql.run(DELETE_EVENTS, { days, limit, fannedOutAt, eventId });
    return {
      deleted: rows.filter(({ isDeleted }) => isDeleted).length,
      next: rows.length === limit ? (rows.at(-1)?.position ?? null) : null,
    };
  }

  /** Deletes at most `limit` old rate-limit windows. Returns their number. */
  async deleteRateWindows(limit: number): Promise<number> {
    return (await this.sql.one(DELETE_RATE_WINDOWS, { limit })).deleted;
  }
}
